"""What an administrator decides is decided: no file, variable or flag says otherwise."""

import json

import pytest

from everturn.compose.cli import plan_launch
from everturn.core.errors import OptionError
from everturn.settings.program_files import SettingsArguments


@pytest.fixture
def launch(ground):
    def plan(managed: dict[str, object], flags: dict[str, object], *, env: dict[str, str] | None = None):
        ground.write("managed", managed)
        everywhere = {"HOME": str(ground.home.parent), "EVERTURN_HOME": str(ground.home)}
        asked = SettingsArguments(managed=(str(ground.managed),))
        return plan_launch({"cwd": str(ground.folder), **flags}, {**everywhere, **(env or {})}, asked)

    return plan


def test_no_flag_and_no_variable_beats_managed_settings(ground, launch):
    managed = {"model": "opus", "permissions": {"defaultMode": "plan"}}
    made = launch(managed, {"model": "haiku", "permission_mode": "acceptEdits"}, env={"ANTHROPIC_MODEL": "sonnet"})
    assert (made.setup.model, made.options.permission_mode) == ("opus", "plan")
    path = ground.files["managed"]
    assert made.warnings == (
        f"model is decided by {path}: the command line cannot change it",
        f"permissions.defaultMode is decided by {path}: the command line cannot change it",
    )


def test_a_resumed_session_keeps_nothing_that_an_administrator_decides(ground, launch):
    ground.write("user", {"model": "opus"})
    assert launch({"permissions": {"defaultMode": "plan"}}, {}).setup.written.defaults == ("model",)
    assert launch({"model": "haiku"}, {}).setup.written.defaults == ()


def test_a_flag_that_says_the_same_is_no_contradiction(launch):
    made = launch({"model": "opus"}, {"model": "opus"})
    assert (made.setup.model, made.warnings) == ("opus", ())


def test_what_the_administrator_leaves_open_a_flag_may_say(launch):
    assert launch({"effortLevel": "low"}, {"model": "opus"}).setup.model == "opus"


def test_allow_rules_of_the_command_line_do_not_count_where_only_managed_ones_do(launch):
    made = launch({"allowManagedPermissionRulesOnly": True}, {"allowed_tools": ["Bash"], "disallowed_tools": ["Write"]})
    assert (made.options.allowed_tools, made.options.disallowed_tools) == ([], ["Write"])
    assert (made.setup.written.only_managed_rules, len(made.warnings)) == (True, 1)


def test_bypass_that_is_switched_off_is_refused_as_a_flag_and_left_out_as_a_setting(ground, launch):
    off = {"permissions": {"disableBypassPermissionsMode": "disable"}}
    with pytest.raises(OptionError, match="bypassPermissions is switched off"):
        launch(off, {"permission_mode": "bypassPermissions"})
    ground.write("user", {"permissions": {"defaultMode": "bypassPermissions"}})
    made = launch(off, {})
    assert (made.options.permission_mode, made.setup.written.bypass_disabled) == (None, True)


@pytest.mark.parametrize(
    "text", ["{", json.dumps({"permissions": {"deny": "Bash"}}), json.dumps({"permissions": {"denny": []}})]
)
def test_managed_settings_that_cannot_be_read_stop_the_start_and_cannot_be_left_out(ground, text):
    ground.write("managed", text)
    asked = SettingsArguments(managed=(str(ground.managed),), wanted=())
    with pytest.raises(OptionError, match=str(ground.files["managed"])):
        plan_launch({"cwd": str(ground.folder)}, {"HOME": str(ground.home)}, asked)
