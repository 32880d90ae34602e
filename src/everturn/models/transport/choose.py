"""Chooses the transport: our own HTTP/1.1 by default, httpx2 for a proxy."""

from collections.abc import Mapping

from everturn.models.transport.limits import BODY_CAP, CONNECT_S, STALL_S
from everturn.models.transport.proxy import plan_proxy
from everturn.ports.transport import HttpTransport


def choose_transport(
    env: Mapping[str, str],
    url: str,
    *,
    connect_s: float = CONNECT_S,
    stall_s: float = STALL_S,
    ca_file: str | None = None,
    body_cap: int = BODY_CAP,
    ahead: bool = False,
) -> HttpTransport:
    """`ahead`: a request is sure to follow, so begin what it needs. Raises `OptionError` for a proxy that cannot be used."""
    ca_file = ca_file or env.get("SSL_CERT_FILE") or env.get("NODE_EXTRA_CA_CERTS") or None
    proxy = plan_proxy(env, url)
    if proxy is None:
        from everturn.models.transport.tls import Trust

        trust = Trust(ca_file)
        if ahead and url.startswith("https:"):
            trust.begin()
        from everturn.models.transport.http1_transport import Http1Transport

        return Http1Transport(connect_s=connect_s, stall_s=stall_s, trust=trust, body_cap=body_cap)
    from everturn.models.transport.httpx2_transport import Httpx2Transport

    return Httpx2Transport(proxy=proxy, connect_s=connect_s, stall_s=stall_s, ca_file=ca_file, body_cap=body_cap)
