"""TLS for the transports: the context with its authorities, and what a refusal means in words."""

import asyncio
import os
import ssl
import threading
from concurrent.futures import Future

from everturn.core.errors import FaultKind, ModelFault

HOW_TO_TRUST = "name a file with the issuer's certificate in SSL_CERT_FILE, NODE_EXTRA_CA_CERTS or the option ca_file"
_EXPIRED = 10
_NOT_YET = 9
_OTHER_HOST = frozenset({62, 64})
_SELF_SIGNED = frozenset({18, 19})


class Trust:
    """The context of one transport: built once, in a thread, for OpenSSL lets go of the interpreter while it reads."""

    def __init__(self, ca_file: str | None = None) -> None:
        self._ca_file = ca_file
        self._building: Future[ssl.SSLContext] | None = None

    def begin(self) -> "Future[ssl.SSLContext]":
        """Call it as soon as it is known that the context will be needed: it takes as long as many imports."""
        if self._building is None:
            self._building = Future()
            # Running by now, so that whoever stops waiting for it does not cancel it for the others.
            self._building.set_running_or_notify_cancel()
            # No daemon: OpenSSL must not be taken down under it when the program ends early.
            threading.Thread(target=self._build, args=(self._building,), name="everturn-tls").start()
        return self._building

    async def context(self) -> ssl.SSLContext:
        """Raises `ModelFault`; whoever asks again after that makes it try again."""
        try:
            return await asyncio.wrap_future(self.begin())
        except Exception:
            self._building = None
            raise

    def _build(self, building: "Future[ssl.SSLContext]") -> None:
        try:
            building.set_result(build_context(self._ca_file))
        except BaseException as error:  # noqa: BLE001 (it is raised where the context is awaited)
            building.set_exception(error)


def build_context(ca_file: str | None) -> ssl.SSLContext:
    """The system's authorities and those of the file. Slow (reads every certificate): run it off the loop."""
    try:
        if ca_file and ca_file == os.environ.get("SSL_CERT_FILE"):
            # To OpenSSL this file is the system's: with the defaults, all of it would be read twice.
            context = ssl.create_default_context(cafile=ca_file, capath=ssl.get_default_verify_paths().capath)
        else:
            context = ssl.create_default_context()
            if ca_file:
                context.load_verify_locations(cafile=ca_file)
    except OSError as error:
        subject = f"The CA file {ca_file}" if ca_file else "TLS"
        reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ModelFault(FaultKind.TLS, f"{subject} cannot be used: {reason}.") from None
    context.set_alpn_protocols(["http/1.1"])
    return context


def describe_refusal(host: str, error: ssl.SSLError) -> ModelFault:
    """A failure that another attempt would meet again."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return ModelFault(FaultKind.TLS, f"The certificate of {host} was refused: {_reason(host, error)}.")
    if error.reason in {"WRONG_VERSION_NUMBER", "HTTP_REQUEST"}:
        return ModelFault(FaultKind.TLS, f"{host} does not speak TLS; does its address begin with http:// instead?")
    return ModelFault(FaultKind.TLS, f"TLS with {host} failed: {error.reason or 'unknown reason'}.")


def _reason(host: str, error: ssl.SSLCertVerificationError) -> str:
    match error.verify_code:
        case code if code == _EXPIRED:
            return "it has expired (or this machine's clock is wrong)"
        case code if code == _NOT_YET:
            return "it is not valid yet (or this machine's clock is wrong)"
        case code if code in _OTHER_HOST:
            return f"it was issued for another host, not for {host}"
        case code if code in _SELF_SIGNED:
            return f"it is self-signed; to trust it, {HOW_TO_TRUST}"
        case _:
            return f"{error.verify_message}; to trust its issuer, {HOW_TO_TRUST}"
