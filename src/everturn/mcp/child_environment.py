"""The environment of a server's process: what its entry declares, and what hardly any program works without. No keys of ours."""

from collections.abc import Mapping

PASSED_ON = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR", "TZ"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)


def plan_environment(ours: Mapping[str, str], declared: Mapping[str, str]) -> dict[str, str]:
    # A function of the shell, exported under such a name, would be run by any shell that the server starts.
    passed = {name: ours[name] for name in PASSED_ON if name in ours and not ours[name].startswith("()")}
    return passed | dict(declared)
