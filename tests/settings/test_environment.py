"""The environment: read once, and each bad value names its variable."""

import re
from pathlib import Path

import pytest

import everturn
from everturn.core.errors import OptionError
from everturn.ports.scratch import VARIABLE
from everturn.settings.environment import OF_COMMANDS, OF_THE_SYSTEM, VARIABLES, Environment, parse_environment
from everturn.tools.bash.shell import NOBODY_ANSWERS
from everturn.workspace.descendants import MARK

SECRET = "sk-ant-secret"


class Watched(dict):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)


def test_an_empty_environment_says_nothing():
    assert parse_environment({}) == Environment()
    assert parse_environment(dict.fromkeys(VARIABLES, " ")) == Environment()


def test_every_variable_is_read():
    env = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_AUTH_TOKEN": "t",
        "ANTHROPIC_BASE_URL": "https://host/prefix",
        "ANTHROPIC_CUSTOM_HEADERS": "X-A: 1\n\n  X-B:2  ",
        "ANTHROPIC_BETAS": "a,, b ",
        "ANTHROPIC_MODEL": "m",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "h",
        "EVERTURN_HOME": "/sessions",
        "EVERTURN_RETRY_SCALE": "0.01",
        "EVERTURN_STALL_S": "2",
        "EVERTURN_MAX_TOOL_CONCURRENCY": "4",
        "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS": "9000",
        "DISABLE_AUTO_COMPACT": "true",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "1000",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }
    assert parse_environment(env) == Environment(
        api_key="k",
        auth_token="t",
        base_url="https://host/prefix",
        headers={"X-A": "1", "X-B": "2"},
        betas=("a", "b"),
        model="m",
        aliases={"haiku": "h"},
        home="/sessions",
        retry_scale=0.01,
        stall_s=2,
        tool_concurrency=4,
        read_tokens=9_000,
        disable_auto_compact=True,
        max_output_tokens=1_000,
        max_retries=0,
    )


@pytest.mark.parametrize(
    ("env", "home"),
    [
        ({"EVERTURN_HOME": "/ours", "CLAUDE_CONFIG_DIR": "/theirs"}, "/ours"),
        ({"EVERTURN_HOME": " ", "CLAUDE_CONFIG_DIR": "/theirs"}, "/theirs"),
        ({}, None),
    ],
)
def test_our_own_variable_names_the_home_before_the_shared_one(env, home):
    assert parse_environment(env).home == home


def test_the_documented_variables_are_those_that_are_read():
    watched = Watched()
    parse_environment(watched)
    others = {f"ANTHROPIC_DEFAULT_{alias}_MODEL" for alias in ("SONNET", "HAIKU", "FABLE")}
    assert watched.asked - others == set(VARIABLES)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("EVERTURN_RETRY_SCALE", "fast", "must be a number of at least 0, not 'fast'"),
        ("EVERTURN_RETRY_SCALE", "-1", "must be a number of at least 0, not -1"),
        ("EVERTURN_STALL_S", "inf", "must be a number of at least 0.001, not inf"),
        ("EVERTURN_MAX_TOOL_CONCURRENCY", "0", "must be a whole number of at least 1, not 0"),
        ("EVERTURN_MAX_TOOL_CONCURRENCY", "2.5", "must be a whole number of at least 1, not 2.5"),
        ("CLAUDE_CODE_MAX_RETRIES", "ten", "must be a whole number of at least 0, not 'ten'"),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "0", "must be a whole number of at least 1, not 0"),
        ("DISABLE_AUTO_COMPACT", "maybe", "must be 1 or 0, not 'maybe'"),
        ("ANTHROPIC_BASE_URL", "localhost", "must be an http or https URL, such as https://api.anthropic.com"),
        ("ANTHROPIC_CUSTOM_HEADERS", SECRET, "must hold one `Name: value` per line; line 1 has no colon"),
        ("ANTHROPIC_CUSTOM_HEADERS", "X Y: z", "holds 'X Y', which is not a header's name"),
        ("ANTHROPIC_API_KEY", f"{SECRET}\n{SECRET}", "must be one line of printable ASCII characters without blanks"),
    ],
)
def test_a_bad_value_names_its_variable_and_shows_no_secret(name, value, problem):
    with pytest.raises(OptionError) as caught:
        parse_environment({name: value})
    assert str(caught.value) == f"{name}: {problem}"
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(("value", "disabled"), [("1", True), ("on", True), ("0", False), ("No", False), ("", False)])
def test_a_flag_has_its_usual_spellings(value, disabled):
    assert parse_environment({"DISABLE_AUTO_COMPACT": value}).disable_auto_compact is disabled


READ = re.compile(r"""(?:env|environ)(?:\.get\(|\[)["']([A-Z][A-Z_]+)["']""")


def test_every_variable_that_is_read_anywhere_is_documented():
    sources = Path(everturn.__file__).parent.rglob("*.py")
    read = {name for path in sources for name in READ.findall(path.read_text("utf-8"))}

    assert {"NO_COLOR", "SSL_CERT_FILE", "ANTHROPIC_CUSTOM_HEADERS"} <= read
    assert read - {*VARIABLES, *OF_THE_SYSTEM, *OF_COMMANDS} == set()


def test_the_variables_of_commands_are_documented():
    given = {name for names in OF_COMMANDS for name in names.split(", ")}

    assert given == {MARK, VARIABLE, *NOBODY_ANSWERS}
