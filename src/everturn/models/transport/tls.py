"""TLS for the transports: the context with its authorities, and what a refusal means in words."""

import ssl

from everturn.core.errors import FaultKind, ModelFault

HOW_TO_TRUST = "name a file with the issuer's certificate in SSL_CERT_FILE, NODE_EXTRA_CA_CERTS or the option ca_file"
_EXPIRED = 10
_NOT_YET = 9
_OTHER_HOST = frozenset({62, 64})
_SELF_SIGNED = frozenset({18, 19})


def build_context(ca_file: str | None) -> ssl.SSLContext:
    """The system's authorities and those of the file. Slow (reads every certificate): run it off the loop."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:
            reason = error.strerror or "it holds no certificate"
            raise ModelFault(FaultKind.TLS, f"The CA file {ca_file} cannot be used: {reason}.") from None
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
