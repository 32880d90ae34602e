"""Each mode, as a table of calls and rulings."""

from typing import get_args

import pytest
from tests.permissions.rules_of import rules_of

from everturn.core.denials import DenialCause
from everturn.core.errors import OptionError
from everturn.core.modes import ModeName, PermissionMode
from everturn.permissions.policy import RulePolicy
from everturn.ports.outputs import Outputs
from everturn.ports.policy import Call, Decider, Ruling, Verdict
from everturn.ports.tool import Access, Traits
from everturn.prompt.modes import LINES

READS = Traits(read_only=True, concurrent=True, access=Access.READ)
EDITS = Traits(access=Access.EDIT)
RUNS = Traits()
CUSTOM_READS = Traits(read_only=True)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    place.mkdir()
    (tmp_path / "secret").mkdir()
    (place / "link").symlink_to(tmp_path / "secret")
    return place


def call(name, traits, **fields):
    return Call(id="toolu_1", name=name, input=fields, traits=traits, line=name)


CALLS = {
    "read inside": call("Read", READS, file_path="a.txt"),
    "read outside": call("Read", READS, file_path="/etc/passwd"),
    "read through a link": call("Read", READS, file_path="link/x"),
    "read upwards": call("Read", READS, file_path="../x"),
    "read without a path": call("Read", READS),
    "search here": call("Grep", READS, pattern="x"),
    "search outside": call("Glob", READS, pattern="x", path=".."),
    "odd path": call("Grep", READS, pattern="x", path=["odd"]),
    "impossible path": call("Read", READS, file_path="a\0b"),
    "edit inside": call("Edit", EDITS, file_path="a.txt"),
    "write outside": call("Write", EDITS, file_path="../a.txt"),
    "write through a link": call("Write", EDITS, file_path="link/new"),
    "look around": call("Bash", RUNS, command="ls"),
    "run": call("Bash", RUNS, command="make"),
    "custom": call("deploy", RUNS),
    "custom reader": call("lookup", CUSTOM_READS),
    "false reader": call("Read", RUNS, file_path="a.txt"),
}
ALLOW, ASK, DENY = Ruling.ALLOW, Ruling.ASK, Ruling.DENY
DEFAULT = {
    "read inside": ALLOW,
    "read outside": ASK,
    "read through a link": ASK,
    "read upwards": ASK,
    "read without a path": ASK,
    "search here": ALLOW,
    "search outside": ASK,
    "odd path": ASK,
    # Nobody is asked about what cannot be opened: the tool says why.
    "impossible path": ALLOW,
    "edit inside": ASK,
    "write outside": ASK,
    "write through a link": ASK,
    "look around": ALLOW,
    "run": ASK,
    "custom": ASK,
    "custom reader": ASK,
    "false reader": ASK,
}
CHANGERS = {"edit inside", "write outside", "write through a link", "run", "custom", "false reader"}
TABLE = {
    PermissionMode.DEFAULT: DEFAULT,
    PermissionMode.ACCEPT_EDITS: DEFAULT | {"edit inside": ALLOW},
    PermissionMode.BYPASS: dict.fromkeys(CALLS, ALLOW),
    PermissionMode.PLAN: DEFAULT | dict.fromkeys(CHANGERS, DENY) | {"custom reader": ALLOW},
    PermissionMode.DONT_ASK: {name: DENY if ruling is ASK else ruling for name, ruling in DEFAULT.items()},
}


@pytest.mark.parametrize(("mode", "name"), [(mode, name) for mode in PermissionMode for name in CALLS])
def test_a_mode_rules(folder, mode, name):
    verdict = RulePolicy(mode, str(folder)).judge(CALLS[name])

    assert verdict.ruling is TABLE[mode][name]
    assert str(mode) in verdict.reason


@pytest.mark.parametrize("mode", list(PermissionMode))
def test_the_deny_list_beats_everything(folder, mode):
    policy = RulePolicy(mode, str(folder), rules=rules_of(allow=["Bash"], deny=["Bash"]))

    assert policy.judge(CALLS["run"]) == Verdict(
        ruling=DENY, reason="the rule Bash (command line) denies it", by=Decider.RULE, cause=DenialCause.RULE
    )


@pytest.mark.parametrize(
    ("mode", "ruling"), [("default", ALLOW), ("acceptEdits", ALLOW), ("dontAsk", ALLOW), ("plan", DENY)]
)
def test_the_allow_list_counts_except_for_changes_in_plan_mode(folder, mode, ruling):
    assert RulePolicy(mode, str(folder), rules=rules_of(allow=["Bash"])).judge(CALLS["run"]).ruling is ruling


def test_the_mode_can_change_between_two_calls(folder):
    policy = RulePolicy("default", str(folder))
    assert policy.judge(CALLS["edit inside"]).reason == "mode default: Edit needs approval"

    policy.mode = "acceptEdits"

    assert policy.mode is PermissionMode.ACCEPT_EDITS
    assert policy.judge(CALLS["edit inside"]).reason == "mode acceptEdits: writing inside the working folder"


def test_a_denial_for_want_of_a_person_says_so(folder):
    assert RulePolicy("dontAsk", str(folder)).judge(CALLS["custom"]) == Verdict(
        ruling=DENY,
        reason="mode dontAsk: deploy needs approval, and nobody is asked",
        by=Decider.MODE,
        cause=DenialCause.MODE,
    )


def test_a_mode_that_there_is_not_is_named(folder):
    with pytest.raises(OptionError, match="must be one of default, acceptEdits, plan, dontAsk, bypassPermissions"):
        RulePolicy("yolo", str(folder))


def test_a_mode_that_is_switched_off_is_refused_at_any_time(folder):
    policy = RulePolicy("default", str(folder), bypass_disabled=True)

    with pytest.raises(OptionError, match="bypassPermissions is switched off"):
        policy.mode = "bypassPermissions"

    assert policy.mode is PermissionMode.DEFAULT


@pytest.mark.parametrize(("path", "ruling"), [("a.ipynb", ALLOW), ("../a.ipynb", ASK), ("link/a.ipynb", ASK)])
def test_a_notebook_is_a_file_like_others(folder, path, ruling):
    policy = RulePolicy("acceptEdits", str(folder))

    assert policy.judge(call("NotebookEdit", EDITS, notebook_path=path)).ruling is ruling


ASKS = Traits(access=Access.READ, needs_person=True)
NOTES = Traits(read_only=True, access=Access.READ)


@pytest.mark.parametrize("mode", [mode for mode in PermissionMode if mode is not PermissionMode.DONT_ASK])
def test_no_mode_and_no_rule_answers_for_the_person(folder, mode):
    policy = RulePolicy(mode, str(folder), rules=rules_of(allow=["AskUserQuestion"]))

    assert policy.judge(call("AskUserQuestion", ASKS)).ruling is ASK


@pytest.mark.parametrize(
    ("mode", "name", "ruling"),
    [
        (PermissionMode.DONT_ASK, "AskUserQuestion", DENY),
        (PermissionMode.DEFAULT, "EnterPlanMode", ASK),
        (PermissionMode.BYPASS, "EnterPlanMode", ASK),
        (PermissionMode.PLAN, "EnterPlanMode", DENY),
        (PermissionMode.PLAN, "ExitPlanMode", ASK),
        (PermissionMode.DEFAULT, "ExitPlanMode", DENY),
        (PermissionMode.PLAN, "deploy", DENY),
        (PermissionMode.DEFAULT, "deploy", ASK),
    ],
)
def test_questions_are_judged_so(folder, mode, name, ruling):
    assert RulePolicy(mode, str(folder)).judge(call(name, ASKS)).ruling is ruling


def test_a_question_on_the_deny_list_is_denied(folder):
    policy = RulePolicy("default", str(folder), rules=rules_of(deny=["AskUserQuestion"]))

    assert policy.judge(call("AskUserQuestion", ASKS)).ruling is DENY


@pytest.mark.parametrize("mode", PermissionMode)
@pytest.mark.parametrize("name", ["TodoWrite", "ToolSearch"])
def test_what_the_session_keeps_for_itself_needs_nobody(folder, mode, name):
    assert RulePolicy(mode, str(folder)).judge(call(name, NOTES)).ruling is ALLOW


def test_a_plan_leads_back_to_the_mode_before_it(folder):
    policy = RulePolicy("acceptEdits", str(folder))

    policy.switch("plan")
    policy.switch("plan")

    assert policy.leave_plan() == policy.leave_plan() == "acceptEdits"
    assert RulePolicy("plan", str(folder)).leave_plan() == "default"


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "dontAsk"])
@pytest.mark.parametrize(("name", "field"), [("Read", "file_path"), ("Grep", "path")])
def test_files_that_a_command_wrote_are_read_without_asking_and_only_they(tmp_path, mode, name, field):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    for file in ("command-1.log", "other.log"):
        (elsewhere / file).touch()
    (elsewhere / "link.log").symlink_to("command-1.log")
    (project / "trap.log").symlink_to(elsewhere / "other.log")
    outputs = Outputs()
    outputs.add(str(elsewhere / "command-1.log"))
    policy = RulePolicy(mode, str(project), outputs=outputs)

    def allows(path):
        call = Call(id="toolu_1", name=name, input={field: str(path)}, traits=READS, line=name)
        return policy.judge(call).ruling is Ruling.ALLOW

    paths = ["command-1.log", "link.log", "other.log", ".", "../elsewhere/command-1.log"]
    assert [allows(elsewhere / path) for path in paths] == [True, True, False, False, True]
    assert not allows(project / "trap.log")
    outputs.remove(str(elsewhere / "command-1.log"))
    assert not allows(elsewhere / "command-1.log")


def test_files_that_a_command_wrote_are_not_to_be_written(tmp_path):
    outputs = Outputs()
    outputs.add(str(tmp_path / "command-1.log"))
    call = Call(
        id="toolu_1", name="Write", input={"file_path": str(tmp_path / "command-1.log")}, traits=EDITS, line="Write"
    )

    assert RulePolicy("acceptEdits", "/project", outputs=outputs).judge(call).ruling is Ruling.ASK


def test_a_deny_rule_covers_the_files_of_commands_too(tmp_path):
    outputs = Outputs()
    outputs.add(str(tmp_path / "a.log"))
    call = Call(id="toolu_1", name="Read", input={"file_path": str(tmp_path / "a.log")}, traits=READS, line="Read")

    assert (
        RulePolicy("default", "/project", rules=rules_of(deny=["Read"]), outputs=outputs).judge(call).ruling
        is Ruling.DENY
    )


def test_what_a_user_writes_and_what_the_model_is_told_are_the_modes():
    assert tuple(PermissionMode) == get_args(ModeName)
    assert set(PermissionMode) == set(LINES)
