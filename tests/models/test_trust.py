"""The TLS context: built once, ahead of its use, from the authorities of the system and of a file."""

import asyncio
import ssl

import pytest

from everturn.core.errors import FaultKind, ModelFault
from everturn.models.transport.choose import choose_transport
from everturn.models.transport.tls import Trust, build_context


async def test_it_is_built_once_whoever_asks(certificates):
    trust = Trust(str(certificates / "good.pem"))
    trust.begin()

    first, second = await asyncio.gather(trust.context(), trust.context())

    assert first is second


async def test_whoever_stops_waiting_does_not_stop_the_others(certificates):
    trust = Trust(str(certificates / "good.pem"))
    impatient = asyncio.ensure_future(trust.context())
    patient = asyncio.ensure_future(trust.context())
    await asyncio.sleep(0)

    impatient.cancel()

    assert isinstance(await patient, ssl.SSLContext)


async def test_a_file_that_comes_later_is_found_by_the_next_request(certificates, tmp_path):
    file = tmp_path / "late.pem"
    trust = Trust(str(file))
    with pytest.raises(ModelFault):
        await trust.context()

    file.write_bytes((certificates / "good.pem").read_bytes())

    assert isinstance(await trust.context(), ssl.SSLContext)


def test_the_file_that_openssl_takes_for_the_systems_counts_alone(certificates, monkeypatch):
    file = str(certificates / "good.pem")
    monkeypatch.setenv("SSL_CERT_FILE", file)

    named, implied = build_context(file), build_context(None)

    assert named.get_ca_certs() == implied.get_ca_certs()
    assert (named.verify_mode, named.check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize("systems", [True, False])
@pytest.mark.parametrize(("content", "reason"), [(None, "No such file or directory"), (b"", "it holds no certificate")])
def test_a_file_that_cannot_be_used_is_named(tmp_path, monkeypatch, systems, content, reason):
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    if systems:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))

    with pytest.raises(ModelFault) as caught:
        build_context(str(file))

    assert (caught.value.kind, caught.value.text) == (
        FaultKind.TLS,
        f"The CA file {file} cannot be used: {reason}.",
    )


async def test_what_was_begun_ahead_serves_the_request(stage, certificates):
    server = await stage.serve(lambda exchange: exchange.reply(200, b"safe"), "good")
    transport = choose_transport({"SSL_CERT_FILE": str(certificates / "good.pem")}, server.url, ahead=True)

    response = await transport.post(server.url, {}, b"")
    answer = b"".join([piece async for piece in response.body()])
    await response.aclose()
    await transport.aclose()

    assert answer == b"safe"
