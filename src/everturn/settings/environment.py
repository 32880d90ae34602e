"""Environment variables: read once; an error names its variable."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from everturn.core.errors import OptionError
from everturn.settings import checks
from everturn.settings.checks import Check
from everturn.settings.options import render_without_secrets

ALIASES = ("OPUS", "SONNET", "HAIKU", "FABLE")
YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})
HOME_VARIABLES = ("EVERTURN_HOME", "CLAUDE_CONFIG_DIR")
"""The first that is set names the home."""
NO_HOME = "/nonexistent"
"""What systems write for those who have none. It is not made by those who may not."""

VARIABLES = {
    "ANTHROPIC_API_KEY": "credential, sent as x-api-key",
    "ANTHROPIC_AUTH_TOKEN": "credential, sent as a bearer token",
    "ANTHROPIC_BASE_URL": "address of the API",
    "ANTHROPIC_CUSTOM_HEADERS": "more headers, one `Name: value` per line",
    "ANTHROPIC_BETAS": "more values for the anthropic-beta header, separated by commas",
    "ANTHROPIC_MODEL": "the main model",
    "ANTHROPIC_DEFAULT_OPUS_MODEL": "what the alias opus means; SONNET, HAIKU and FABLE likewise",
    "EVERTURN_HOME": "where sessions and the user's settings are kept; else `CLAUDE_CONFIG_DIR`, else ~/.everturn",
    "CLAUDE_CONFIG_DIR": "the same, if `EVERTURN_HOME` is not set",
    "EVERTURN_TRUST": "1 = the folder is trusted for this run, as with `--trust`",
    "BRAVE_API_KEY": "key of the search engine behind WebSearch (`web_search_key`)",
    "EVERTURN_RETRY_SCALE": "factor for the time slept between attempts (`retry_scale`)",
    "EVERTURN_STALL_S": "seconds of silence after which a stream counts as broken (`stall_s`)",
    "EVERTURN_MAX_TOOL_CONCURRENCY": "calls that may run at the same time (`tool_concurrency`)",
    "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS": "tokens that one Read may bring (`read_tokens`)",
    "DISABLE_AUTO_COMPACT": "1 = the conversation is not summarised ahead of time (`auto_compact`)",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "cap on the output of one answer (`max_output_tokens`)",
    "MAX_THINKING_TOKENS": "budget of tokens for thinking, if the model takes one; 0 = no thinking (`thinking`)",
    "CLAUDE_CODE_MAX_RETRIES": "further attempts after one that failed (`max_retries`)",
}
"""For the documentation; a test compares it with what is read."""
OF_THE_SYSTEM = {
    "HTTPS_PROXY": "proxy for https addresses, as `http://user:password@host:port`; `https_proxy` comes first",
    "HTTP_PROXY": "the same for http addresses; not read if `REQUEST_METHOD` is set, as under CGI",
    "ALL_PROXY": "proxy if neither of the two is set",
    "NO_PROXY": "hosts that need no proxy, separated by commas: names with their subdomains, addresses, networks, `*`",
    "SSL_CERT_FILE": "file with the certificates to trust, instead of the system's file",
    "SSL_CERT_DIR": "folder with the certificates to trust, instead of the system's folder (read by OpenSSL)",
    "NODE_EXTRA_CA_CERTS": "file with more certificates to trust, if neither `ca_file` nor `SSL_CERT_FILE` is set",
    "NO_COLOR": "any value = no colours and no bold text on a terminal, and Markdown as plain text",
    "TERM": "`dumb` or not set = the cursor is never moved, and nothing is coloured",
    "COLORTERM": "`truecolor` or `24bit` = the terminal shows more than sixteen colours",
    "COLORFGBG": "colours of the terminal's text and background: light or dark, if the terminal does not answer",
    "TERM_PROGRAM": "the terminal's name: which colours, keys and notifications it knows",
    "WT_SESSION": "set by Windows Terminal, which shows more than sixteen colours",
    "TMUX": "set by tmux, between the program and the terminal",
    "STY": "set by screen, between the program and the terminal",
    "VISUAL": "the editor that the terminal opens for a long prompt",
    "EDITOR": "the same, if `VISUAL` is not set; else `vi`",
    "HOME": "your home; else it is looked up in the system's list of users",
    "PATH": "where bash, git, ripgrep and bubblewrap are found; commands of the model have it, too",
    "XDG_CONFIG_HOME": "where git keeps its settings, which commands that nobody approved may read",
    "EVERTURN_HOLD_WITHOUT": "for tests: `landlock`, `bubblewrap` or `off` = commands are confined as on a machine without it",
}
"""Read elsewhere than here. For the documentation; a test looks for others in the source."""
OF_COMMANDS = {
    "EVERTURN_MARK": "marks the processes of a command, so that those it leaves behind are found and ended with the session. "
    "A process that is started with another value (`env EVERTURN_MARK= server &`) outlives it",
    "TMPDIR": "the session's own folder for temporary files, if there is one",
    "GIT_EDITOR, GIT_PAGER, PAGER, MANPAGER": "programs that do not wait for a person: `true` and `cat`",
    "GIT_TERMINAL_PROMPT, SSH_ASKPASS_REQUIRE": "nobody is asked for a password",
    "GIT_OPTIONAL_LOCKS": "`0`: commands that only read write nothing",
}
"""What commands of the model find in their environment. For the documentation."""


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """None or empty = not set. An empty variable counts as not set."""

    api_key: str | None = None
    auth_token: str | None = None
    base_url: str | None = None
    headers: dict[str, str] = {}
    betas: tuple[str, ...] = ()
    model: str | None = None
    aliases: dict[str, str] = {}
    home: str | None = None
    retry_scale: float | None = None
    stall_s: float | None = None
    tool_concurrency: int | None = None
    read_tokens: int | None = None
    disable_auto_compact: bool = False
    max_output_tokens: int | None = None
    max_retries: int | None = None
    thinking_tokens: int | None = None
    search_key: str | None = None
    trust: bool = False

    def __repr__(self) -> str:
        return render_without_secrets(self)

    def __rich_repr__(self) -> Any:
        return iter([render_without_secrets(self)])


def parse_environment(env: Mapping[str, str]) -> Environment:
    def read(name: str, check: Check = checks.text) -> str | None:
        value = env.get(name, "").strip()
        if value and (problem := check(value)):
            raise OptionError(name, problem)
        return value or None

    def read_number(name: str, check: Check) -> float | None:
        value = read(name)
        return None if value is None else parse_number(name, value, check)

    def read_whole(name: str, least: int) -> int | None:
        value = read_number(name, checks.whole(least))
        return None if value is None else int(value)

    models = {alias.lower(): read(f"ANTHROPIC_DEFAULT_{alias}_MODEL") for alias in ALIASES}
    betas = read("ANTHROPIC_BETAS") or ""
    return Environment(
        api_key=read("ANTHROPIC_API_KEY", checks.secret),
        auth_token=read("ANTHROPIC_AUTH_TOKEN", checks.secret),
        base_url=read("ANTHROPIC_BASE_URL", checks.url),
        headers=parse_headers("ANTHROPIC_CUSTOM_HEADERS", env.get("ANTHROPIC_CUSTOM_HEADERS", "")),
        betas=tuple(beta.strip() for beta in betas.split(",") if beta.strip()),
        model=read("ANTHROPIC_MODEL"),
        aliases={alias: model for alias, model in models.items() if model},
        home=named_home(env),
        retry_scale=read_number("EVERTURN_RETRY_SCALE", checks.number(0)),
        stall_s=read_number("EVERTURN_STALL_S", checks.number(0.001)),
        tool_concurrency=read_whole("EVERTURN_MAX_TOOL_CONCURRENCY", 1),
        read_tokens=read_whole("CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS", 1),
        disable_auto_compact=parse_flag("DISABLE_AUTO_COMPACT", read("DISABLE_AUTO_COMPACT") or "0"),
        max_output_tokens=read_whole("CLAUDE_CODE_MAX_OUTPUT_TOKENS", 1),
        max_retries=read_whole("CLAUDE_CODE_MAX_RETRIES", 0),
        thinking_tokens=read_whole("MAX_THINKING_TOKENS", 0),
        search_key=read("BRAVE_API_KEY", checks.secret),
        trust=parse_flag("EVERTURN_TRUST", read("EVERTURN_TRUST") or "0"),
    )


def find_shell_home() -> str:
    """What `~` means to commands and to file tools: they have the program's environment, whatever an engine was given."""
    return find_user_home(os.environ)


def find_user_home(env: Mapping[str, str]) -> str:
    """`HOME`, where it is a whole path; else what the system knows of the user, as shells do it."""
    home = env.get("HOME", "")
    if home.startswith("/"):
        return home
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir or NO_HOME
    except KeyError:
        return NO_HOME


def named_home(env: Mapping[str, str]) -> str | None:
    return next((home for name in HOME_VARIABLES if (home := env.get(name, "").strip())), None)


def parse_headers(name: str, value: str) -> dict[str, str]:
    """One `Name: value` per line. Errors never show a value."""
    found: dict[str, str] = {}
    for number, line in enumerate(value.splitlines(), start=1):
        if not line.strip():
            continue
        header, colon, content = line.partition(":")
        if not colon:
            raise OptionError(name, f"must hold one `Name: value` per line; line {number} has no colon")
        found[header.strip()] = content.strip()
    if problem := checks.headers(found):
        raise OptionError(name, problem)
    return found


def parse_flag(name: str, value: str) -> bool:
    if value.lower() in YES:
        return True
    if value.lower() in NO:
        return False
    raise OptionError(name, f"must be 1 or 0, not {value!r:.60}")


def parse_number(name: str, value: str, check: Check) -> float:
    parsed: Any = value
    for kind in (int, float):
        try:
            parsed = kind(value)
            break
        except ValueError:
            continue
    if problem := check(parsed):
        raise OptionError(name, problem)
    number: float = parsed
    return number
