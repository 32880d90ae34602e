"""`everturn config`: reading and changing the user's settings."""

import json
import os
import stat
from pathlib import Path

import pytest

from everturn.cli.main import main


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "EVERTURN_", "CLAUDE_", "DISABLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("EVERTURN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def config(home, capsys):
    def run(*words: str) -> tuple[int, str, str]:
        code = main(["config", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_a_value_may_begin_with_a_dash_and_even_look_like_a_flag(config):
    assert config("set", "env.JAVA_OPTS", "-Xmx1g")[0] == 0
    assert config("get", "env.JAVA_OPTS") == (0, "-Xmx1g\n", "")
    assert config("set", "env.SHOWN", "--help")[0] == 0
    assert config("get", "env.SHOWN") == (0, "--help\n", "")


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("model", "opus", {"model": "opus"}),
        ("model", "5", {"model": "5"}),
        ("fallbackModel", "sonnet,haiku", {"fallbackModel": ["sonnet", "haiku"]}),
        ("permissions.deny", '["Bash"]', {"permissions": {"deny": ["Bash"]}}),
        ("autoCompactEnabled", "false", {"autoCompactEnabled": False}),
        ("everturn.limits.max_turns", "50", {"everturn": {"limits": {"max_turns": 50}}}),
        ("everturn.limits.compact_share", "0.5", {"everturn": {"limits": {"compact_share": 0.5}}}),
        ("env.HTTPS_PROXY", "http://proxy:3128", {"env": {"HTTPS_PROXY": "http://proxy:3128"}}),
        ("env.GIT_AUTHOR_NAME", "Ada", {"env": {"GIT_AUTHOR_NAME": "Ada"}}),
        ("apiKeyHelper", "pass show api", {"apiKeyHelper": "pass show api"}),
        ("cleanupPeriodDays", "7", {"cleanupPeriodDays": 7}),
    ],
)
def test_what_is_set_is_kept_with_its_type(config, home, key, value, kept):
    assert config("set", key, value)[0] == 0
    assert json.loads((home / "settings.json").read_text("utf-8")) == kept


def test_what_was_done_is_said_in_a_line(config, home):
    path = home / "settings.json"
    assert config("set", "model", "opus") == (0, f"model is opus, set in {path}\n", "")
    assert config("set", "fallbackModel", "sonnet,haiku") == (
        0,
        f'fallbackModel is ["sonnet","haiku"], set in {path}\n',
        "",
    )
    assert config("unset", "model") == (0, f"model is removed from {path}\n", "")


def test_a_model_that_nobody_knows_is_set_with_a_warning(config, home):
    code, out, err = config("set", "model", "sonet")
    assert (code, out) == (0, f"model is sonet, set in {home / 'settings.json'}\n")
    assert err.startswith("everturn: warning: the model sonet is not in the catalogue")
    assert err.endswith("; did you mean 'sonnet'?\n")
    config("set", "everturn.models", '[{"id": "claude-novel-9"}]')
    assert config("set", "model", "claude-novel-9")[2] == ""


def test_what_the_environment_beats_is_set_with_a_warning(config, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_MODEL", "claude-opus-5")
    assert config("set", "model", "haiku")[2] == (
        "everturn: warning: ANTHROPIC_MODEL is set in the environment now, which comes before the file\n"
    )
    monkeypatch.setenv("GREETING", "other")
    assert "GREETING is set to something else" in config("set", "env.GREETING", "hello")[2]


def test_a_new_file_is_its_owners_alone_and_another_keeps_its_mode(config, home):
    path = home / "settings.json"
    config("set", "model", "opus")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    config("set", "model", "haiku")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_is_set_can_be_read_and_removed(config, home):
    config("set", "permissions.allow", "Read,Glob")
    assert config("get", "permissions.allow") == (0, '["Read","Glob"]\n', "")
    assert config("unset", "permissions.allow")[0] == 0
    code, _, err = config("get", "permissions.allow")
    assert (code, "permissions.allow is not set" in err) == (2, True)
    assert json.loads((home / "settings.json").read_text("utf-8")) == {"permissions": {}}


def test_defaults_are_values_too(config):
    assert config("get", "model") == (0, "claude-sonnet-5\n", "")
    assert config("get", "everturn.limits.tries") == (0, "10\n", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["set", "modle", "opus"], "there is no setting 'modle'; did you mean 'model'?"),
        (["set", "effortLevel", "hihg"], "effortLevel must be one of"),
        (["set", "everturn.limits.max_turns", "many"], "everturn.limits.max_turns must be a whole number"),
        (["set", "permissions.allow", "Bash(ls"], "permissions.allow holds an entry that cannot work: Bash(ls opens a"),
        (["set", "autoCompactEnabled", "maybe"], "autoCompactEnabled must be true or false, not 'maybe'"),
        (["set", "max_turns", "5"], "there is no setting 'max_turns'; did you mean 'everturn.limits.max_turns'?"),
        (["set", "colour", "red"], "there is no setting 'colour'; everturn config list shows them all"),
        (["set", "env.CLAUDE_CONFIG_DIR", "x"], "cannot be set here"),
        (["set", "apiKey", "abc"], "keys are not kept in settings"),
        (["set", "env.ANTHROPIC_API_KEY", "abc"], "keys are not kept in settings"),
        (["set", "apiKeyHelper", "echo sk-ant-api03-made-up"], "keys are not kept in settings"),
        (["set", "env.EVERTURN_HOME", "x"], "cannot be set here"),
        (["set", "model"], "everturn config set KEY VALUE"),
        (["set", "allowManagedPermissionRulesOnly", "true"], "counts only in managed settings"),
        (["set", "env.EVERTURN_TRUST", "1"], "cannot be set here"),
        (["get", "env"], "env holds several settings: name one of them, such as env.NAME"),
        (
            ["get", "permissions"],
            "permissions holds several settings: name one of them, such as permissions.defaultMode",
        ),
        (["set", "sandbox", "true"], "sandbox holds several settings: name one of them, such as sandbox.enabled"),
        (["gte", "model"], "unknown command 'config gte'; did you mean 'get'?"),
        (["unset", "model"], "model is not set in"),
    ],
)
def test_what_cannot_be_kept_is_refused(config, home, words, said):
    code, out, err = config(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert "made-up" not in err
    assert not (home / "settings.json").exists()


def test_a_file_that_cannot_be_understood_is_not_overwritten(config, home):
    home.mkdir()
    (home / "settings.json").write_text('{"model": ', "utf-8")
    code, _, err = config("set", "model", "opus")
    assert (code, f"{home / 'settings.json'}:1: is not valid JSON" in err) == (2, True)
    assert (home / "settings.json").read_text("utf-8") == '{"model": '


def test_a_home_that_cannot_be_made_is_told(config, home):
    home.write_text("in the way", "utf-8")
    code, _, err = config("set", "model", "opus")
    assert code == 2
    assert str(home) in err


def test_the_list_says_where_each_value_comes_from_and_hides_secrets(config, home, monkeypatch):
    home.mkdir()
    settings = {"effortLevel": "low", "env": {"MY_TOKEN": "made-up-token", "A": "1"}, "statusLine": {}}
    (home / "settings.json").write_text(json.dumps(settings), "utf-8")
    monkeypatch.setenv("ANTHROPIC_MODEL", "claude-opus-5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up-key")
    code, out, _ = config("list")
    path = home / "settings.json"
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert code == 0
    assert rows["model"] == ["claude-opus-5", "ANTHROPIC_MODEL"]
    assert rows["effortLevel"] == ["low", str(path)]
    assert rows["autoCompactEnabled"] == ["true", "default"]
    assert rows["apiKeyHelper"] == ["(not", "used)", "ANTHROPIC_API_KEY"]
    assert rows["env.MY_TOKEN"] == ["<set>", str(path)]
    assert rows["env.A"] == ["1", str(path)]
    assert "statusLine is not supported" in out
    assert "made-up" not in out


def test_a_project_file_that_comes_before_the_users_is_told(config, home, tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / ".everturn").mkdir(parents=True)
    (folder / ".everturn" / "settings.json").write_text('{"model": "haiku"}')
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EVERTURN_TRUST", "1")
    code, _, err = config("set", "model", "opus")
    assert code == 0
    assert f"{folder}/.everturn/settings.json says haiku, which comes before the file" in err
    assert config("list")[1].splitlines()[0].split() == ["model", "haiku", f"{folder}/.everturn/settings.json"]
    monkeypatch.setenv("EVERTURN_TRUST", "0")
    assert config("list")[1].splitlines()[0].split() == ["model", "opus", f"{home}/settings.json"]


def test_a_file_of_another_program_can_be_changed_although_it_holds_what_we_do_not_know(config, tmp_path, monkeypatch):
    other = tmp_path / "claude"
    other.mkdir()
    (other / "settings.json").write_text('{"permissions": {"disableAutoMode": "disable"}, "theme": "dark"}')
    monkeypatch.delenv("EVERTURN_HOME")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(other))
    assert config("set", "model", "opus")[0] == 0
    assert json.loads((other / "settings.json").read_text())["theme"] == "dark"


@pytest.mark.parametrize("words", [("list",), ("get", "model")])
def test_what_is_shown_beside_a_file_that_cannot_be_read_is_no_success(config, home, words):
    home.mkdir(parents=True, exist_ok=True)
    (home / "settings.json").write_text('{"model": "opus",}', "utf-8")
    code, out, err = config(*words)
    assert (code, "claude-sonnet-5" in out) == (2, True)
    assert f"{home / 'settings.json'}:1: is not valid JSON" in err
