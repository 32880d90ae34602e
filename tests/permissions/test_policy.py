"""Rules, protection and modes together: which of them decides, about which file, and what is told of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import slowness
from tests.permissions.rules_of import rules_of

from everturn.core.modes import PermissionMode
from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules.rule import Source
from everturn.permissions.rules.rule_parser import parse_rule
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.judged_paths import JudgedPath
from everturn.ports.policy import Call, Ruling
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Access, Traits

ALLOW, ASK, DENY = Ruling.ALLOW, Ruling.ASK, Ruling.DENY
READS = Traits(read_only=True, concurrent=True, access=Access.READ)
EDITS = Traits(access=Access.EDIT)
TRAITS = {"Read": READS, "Grep": READS, "Glob": READS, "Edit": EDITS, "Write": EDITS, "NotebookEdit": EDITS}


@pytest.fixture
def root(tmp_path):
    """Home, project and what is outside of both, with nothing in them."""
    for place in ("home/proj", "outside"):
        (tmp_path / place).mkdir(parents=True)
    return tmp_path.resolve()


def call(name, **fields):
    return Call(id="toolu_1", name=name, input=fields, traits=TRAITS.get(name, Traits()), line=name)


def policy_in(root, mode="default", *, added=(), own=(), **rules):
    project = str(root / "home/proj")
    grounds = Workplace(folder=project, home=str(root / "home"), added=tuple(map(str, added)), own=tuple(map(str, own)))
    return RulePolicy(mode, grounds, rules=rules_of(**rules, folder=project))


def judge(root, name, path, mode="default", **options):
    field = {"Grep": "path", "Glob": "path", "NotebookEdit": "notebook_path"}.get(name, "file_path")
    return policy_in(root, mode, **options).judge(call(name, **{field: str(path)})).ruling


@pytest.mark.parametrize("mode", list(PermissionMode))
@pytest.mark.parametrize("name", ["Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit"])
def test_who_may_not_read_a_file_may_not_touch_it_in_any_mode(root, name, mode):
    assert judge(root, name, "secrets/k", mode, allow=["Read", "Edit", name], deny=["Read(secrets/**)"]) is DENY


@pytest.mark.parametrize(("name", "ruling"), [("Read", ALLOW), ("Edit", DENY), ("Write", DENY), ("NotebookEdit", DENY)])
def test_a_deny_for_edits_leaves_reading_alone(root, name, ruling):
    assert judge(root, name, "a", deny=["Edit(a)"]) is ruling


@pytest.mark.parametrize(
    ("name", "ruling"), [("Read", ALLOW), ("Grep", ALLOW), ("Write", ALLOW), ("NotebookEdit", ALLOW)]
)
def test_who_may_edit_a_file_may_read_and_write_it(root, name, ruling):
    assert judge(root, name, root / "outside/a", allow=[f"Edit(/{root}/outside/**)"]) is ruling


def test_a_bare_rule_for_reading_does_not_allow_writing(root):
    assert [judge(root, name, root / "outside/a", allow=["Read"]) for name in ("Read", "Grep", "Write")] == [
        ALLOW,
        ALLOW,
        ASK,
    ]


@pytest.mark.parametrize(
    ("mode", "rulings"),
    [
        (PermissionMode.DEFAULT, (ASK, ASK, ALLOW)),
        (PermissionMode.ACCEPT_EDITS, (ASK, ALLOW, ALLOW)),
        (PermissionMode.BYPASS, (ASK, ALLOW, ALLOW)),
        (PermissionMode.PLAN, (ASK, DENY, DENY)),
        (PermissionMode.DONT_ASK, (DENY, DENY, ALLOW)),
    ],
)
def test_ask_comes_before_the_mode_and_the_mode_before_allow(root, mode, rulings):
    options = {"ask": ["Edit(asked)"], "allow": ["Edit(allowed)", "Edit(asked)"]}

    assert tuple(judge(root, "Edit", path, mode, **options) for path in ("asked", "other", "allowed")) == rulings


PROTECTED = [
    *(".git/config", "sub/.git/hooks/x", ".GIT/config", ".Git/x", ".git./config", ".git /config"),
    *(
        ".gi\u200ct/config",
        "\uff0egit/config",
        ".git\u00ad/x",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
        ".git",
    ),
    *(".config/git/ignore", ".vscode/tasks.json", ".claude/settings.json", ".everturn/settings.json", ".bashrc"),
    *("deep/er/.ENVRC", ".mcp.json", ".pre-commit-config.yaml", "lefthook.yaml", ".claude/worktrees/w/.git"),
    *("./x/../.git/config", ".git//config", ".git/./config", "pyrightconfig.json", ".npmrc."),
]


@pytest.mark.parametrize("path", PROTECTED)
def test_what_is_protected_is_never_approved_ahead_of_time_in_any_spelling(root, path):
    rules = {"allow": ["Edit", "Write", "Edit(//**)"]}

    rulings = [
        judge(root, "Write", path, mode, **rules) for mode in ("default", "acceptEdits", "dontAsk", "bypassPermissions")
    ]

    assert rulings == [ASK, ASK, DENY, ALLOW]


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/x", "git/config", ".claude/worktrees/w/a.txt", "x.git", ".env", "config/git"]
)
def test_what_only_looks_like_it_is_not_protected(root, path):
    assert judge(root, "Write", path, "acceptEdits") is ALLOW


def test_a_link_into_a_protected_folder_is_protected_whatever_it_is_called(root):
    project = root / "home/proj"
    (project / ".git/hooks").mkdir(parents=True)
    (project / "plain").symlink_to(".git/hooks")
    (project / ".husky").symlink_to(root / "outside")

    assert [judge(root, "Write", path, allow=["Edit"]) for path in ("plain/x", ".husky/x")] == [ASK, ASK]


def test_our_own_folders_are_protected_wherever_they_lie(root):
    own = root / "home/proj/config-of-ours"

    paths = ["config-of-ours/settings.json", "Config-Of-Ours/x", "config-of-ours-not/x"]
    assert [judge(root, "Write", path, "acceptEdits", own=[own]) for path in paths] == [ASK, ASK, ALLOW]


@pytest.mark.parametrize(
    "path",
    ["/proc/self/root/etc/hosts", "/proc/self/cwd/x", "/dev/fd/0", "/proc/self/environ", "/proc/thread-self/fd/1"],
)
@pytest.mark.parametrize("name", ["Read", "Write"])
def test_a_way_through_the_kernels_own_links_is_always_asked_about(root, name, path):
    assert judge(root, name, path, "acceptEdits", allow=["Read", "Edit", "Read(//**)"], added=["/"]) is ASK


def test_a_deny_sees_through_the_kernels_own_links(root):
    assert judge(root, "Read", "/proc/self/root/etc/hosts", "bypassPermissions", deny=["Read(//etc/**)"]) is DENY


def test_folders_that_were_added_are_like_the_working_folder(root):
    outside = root / "outside"

    def rulings(**options):
        return [judge(root, name, outside / "a", "acceptEdits", **options) for name in ("Read", "Glob", "Write")]

    assert (rulings(), rulings(added=[outside])) == ([ASK, ASK, ASK], [ALLOW, ALLOW, ALLOW])


def test_a_search_of_a_folder_is_covered_only_by_a_rule_for_all_of_it(root):
    outside = root / "outside"

    rulings = {
        rule: judge(root, "Grep", outside, allow=[f"Read(/{outside}{rule})"])
        for rule in ("", "/**", "/*", "/*.py", "/a/**")
    }

    assert rulings == {"": ALLOW, "/**": ALLOW, "/*": ASK, "/*.py": ASK, "/a/**": ASK}


def test_a_search_is_told_which_files_to_leave_out(root):
    project = root / "home/proj"
    policy = policy_in(root, deny=["Read(.env)"], ask=["Read(keys/**)"], allow=["Read(keys/public)"])

    verdict = policy.judge(call("Grep", pattern="x"))

    assert verdict.ruling is ALLOW
    paths = [".env", "sub/.ENV", "keys/a", "keys/public", "a.txt"]
    assert [verdict.judged.hides(f"{project}/{path}") for path in paths] == [True, True, True, True, False]
    assert policy.judge(call("Read", file_path="a.txt")).judged == JudgedPath(target=f"{project}/a.txt")


def test_every_name_of_a_file_must_be_allowed_and_none_denied(root):
    project = root / "home/proj"
    (project / "mid").symlink_to(root / "outside/t")
    (project / "first").symlink_to("mid")

    def ruling(**rules):
        return judge(root, "Read", "first", **rules)

    everywhere = f"Read(/{root}/outside/**)"
    assert ruling(allow=["Read(first)", everywhere]) is ASK
    assert ruling(allow=["Read(first)", "Read(mid)", everywhere]) is ALLOW
    assert [ruling(allow=["Read"], deny=[rule]) for rule in ("Read(first)", "Read(mid)", everywhere)] == [
        DENY,
        DENY,
        DENY,
    ]


def test_a_file_with_a_second_name_is_not_written_because_of_where_it_lies(root):
    (root / "outside/t").write_text("x")
    (root / "home/proj/twin").hardlink_to(root / "outside/t")

    assert judge(root, "Write", "twin", "acceptEdits", allow=["Edit(/**)"]) is ASK
    assert judge(root, "Write", "twin", allow=["Edit"]) is ALLOW
    assert judge(root, "Read", "twin") is ALLOW


@pytest.mark.parametrize(
    ("rule", "fields", "ruling"),
    [
        ("Agent(Explore)", {"subagent_type": "Explore"}, DENY),
        ("Task(Explore)", {"subagent_type": "Explore"}, DENY),
        ("Agent(Explore)", {"subagent_type": "Plan"}, ASK),
        ("Agent(model:opus*)", {"model": "opus-5"}, DENY),
        ("Agent(model:opus)", {}, ASK),
        ("Agent(turns:3)", {"turns": 3}, DENY),
        ("Agent(fast:true)", {"fast": True}, DENY),
        ("Agent(model:*)", {"model": ["opus"]}, ASK),
        ("Ag*", {}, DENY),
        ("*", {}, DENY),
    ],
)
def test_rules_for_other_tools_look_at_their_names_and_fields(root, rule, fields, ruling):
    assert policy_in(root, deny=[rule]).judge(call("Agent", **fields)).ruling is ruling


@pytest.mark.parametrize(
    ("rules", "arguments", "ruling"),
    [
        ({"allow": ["Skill(deploy)"]}, None, ALLOW),
        ({"allow": ["Skill(deploy)"]}, "prod", ASK),
        ({"allow": ["Skill(deploy *)"]}, "prod", ALLOW),
        ({"allow": ["Skill(deploy *)"]}, None, ALLOW),
        ({"deny": ["Skill(deploy)"], "allow": ["Skill"]}, "prod", DENY),
    ],
)
def test_a_skill_is_allowed_as_it_is_called_and_denied_by_its_name(root, rules, arguments, ruling):
    fields = {"skill": "deploy"} | ({"args": arguments} if arguments else {})

    assert policy_in(root, **rules).judge(call("Skill", **fields)).ruling is ruling


@pytest.mark.parametrize(
    ("rule", "ruling"), [("mcp__hub", ALLOW), ("mcp__hub__*", ALLOW), ("mcp__hub__push", ALLOW), ("mcp__hu", ASK)]
)
def test_a_server_stands_for_all_its_tools(root, rule, ruling):
    assert policy_in(root, allow=[rule]).judge(call("mcp__hub__push")).ruling is ruling


@pytest.mark.parametrize(
    ("rule", "removed"),
    [("Bash", True), ("Bash(*)", True), ("B*", True), ("*", True), ("Bash(rm *)", False), ("Read", False)],
)
def test_a_deny_for_every_call_takes_the_tool_off_the_list(root, rule, removed):
    assert policy_in(root, deny=[rule]).removes("Bash") is removed


def test_where_rules_contradict_each_other_the_explanation_names_both(root):
    policy = policy_in(root, allow=["Edit(/src/**)"], deny=["Edit(/src/gen/**)"])

    told = policy.explain(call("Edit", file_path="src/gen/a"))

    assert (told.ruling, told.rule.text, told.overruled.text) == (DENY, "Edit(/src/gen/**)", "Edit(/src/**)")
    assert told.why == (
        "the rule Edit(/src/gen/**) (command line) denies it; "
        "the rule Edit(/src/**) (command line) allows it, but deny comes first"
    )


def test_of_two_rules_the_one_of_the_higher_source_is_named(root):
    policy = policy_in(root, deny=["Read(a)"])
    policy.replace_rules(parse_rule("Read(a)", DENY, source=source) for source in (Source.USER, Source.MANAGED))

    assert policy.explain(call("Read", file_path="a")).why == "the rule Read(a) (managed settings) denies it"


def test_rules_that_change_count_from_the_next_call_on_and_the_sessions_own_stay(root):
    policy, edit = policy_in(root), call("Edit", file_path="a")
    seen = [policy.judge(edit).ruling]

    policy.add_rule(parse_rule("Edit(a)", ALLOW, source=Source.SESSION))
    seen.append(policy.judge(edit).ruling)
    policy.replace_rules([parse_rule("Edit(a)", DENY, source=Source.PROJECT)], [str(root / "outside")])
    seen.append(policy.judge(edit).ruling)
    seen.append(policy.judge(call("Read", file_path=str(root / "outside/x"))).ruling)
    policy.replace_rules([])
    seen.append(policy.judge(edit).ruling)
    seen.append(policy.judge(call("Read", file_path=str(root / "outside/x"))).ruling)

    assert seen == [ASK, ALLOW, DENY, ALLOW, ALLOW, ASK]


def test_a_command_is_judged_from_where_the_last_one_left_off(root):
    shell = ShellFolder()
    project = root / "home/proj"
    (project / "sub").mkdir()
    (project / "sub/link").symlink_to(root / "outside")
    policy = RulePolicy("default", str(project), rules=rules_of(deny=["Read(sub/.env)"]), shell=shell)
    seen = [policy.judge_file("read", ".env").ruling]

    shell.path = str(project / "sub")
    seen.append(policy.judge_file("read", ".env").ruling)
    shell.path = str(project / "gone")
    seen.append(policy.judge_file("read", ".env").ruling)

    assert seen == [ALLOW, DENY, ALLOW]


RULES = st.lists(
    st.tuples(
        st.sampled_from(Ruling),
        st.sampled_from(
            ["Read", "Edit", "Read(a)", "Edit(a)", "Edit(/**)", "Read(b/**)", "Edit(*.py)", "Write", "Edit(//**)"]
        ),
    ),
    max_size=6,
)
CALLS = st.builds(
    lambda name, path: call(name, file_path=path),
    st.sampled_from(["Read", "Edit", "Write"]),
    st.sampled_from(["a", "b/c", "x.py", "/etc/hosts", ".git/config", "A"]),
)
STRICTNESS = [ALLOW, ASK, DENY]


@given(
    rules=RULES,
    one=CALLS,
    mode=st.sampled_from(PermissionMode),
    more=st.tuples(st.sampled_from([ASK, DENY]), st.just("Edit(/**)")),
)
def test_a_further_deny_never_loosens_and_a_deny_never_loses(rules, one, mode, more):
    def ruling(pairs):
        parsed = [parse_rule(text, kind, folder="/project") for kind, text in pairs]
        return RulePolicy(mode, "/project", rules=parsed).judge(one).ruling

    before, after = ruling(rules), ruling([*rules, more])
    only_denies = ruling([pair for pair in rules if pair[0] is DENY])

    # An ask rule comes before the mode: in plan mode a person is asked about what the mode would deny.
    if (mode, more[0]) != (PermissionMode.PLAN, ASK):
        assert STRICTNESS.index(after) >= STRICTNESS.index(before)
    # What the denies alone forbid stays forbidden, whoever allows it. A mode may deny by itself.
    if only_denies is DENY and mode not in {PermissionMode.PLAN, PermissionMode.DONT_ASK}:
        assert before is DENY
    assert ruling(rules[::-1]) is before


@given(path=st.text(max_size=30), name=st.sampled_from(["Read", "Write", "Grep"]), mode=st.sampled_from(PermissionMode))
def test_no_path_makes_the_policy_raise_or_lets_it_leave_the_folder(path, name, mode):
    field = "path" if name == "Grep" else "file_path"
    verdict = RulePolicy(mode, "/nowhere/project").judge(call(name, **{field: path}))

    if verdict.ruling is ALLOW and mode is not PermissionMode.BYPASS:
        target = verdict.judged.target
        assert not target or target == "/nowhere/project" or target.startswith("/nowhere/project/")


def test_a_question_costs_the_same_with_ten_thousand_rules(root):
    import time

    many = [
        text
        for number in range(2_000)
        for text in (f"Read(//srv/{number}/**)", f"Edit(/gen{number}/*.py)", f"Read(secret{number}.key)")
    ]
    fields = [f"Agent(model:m{number})" for number in range(2_000)]
    hosts = [f"WebFetch(domain:h{number}.example)" for number in range(2_000)]
    policy = policy_in(root, deny=[*many[::2], *fields, *hosts], allow=many[1::2])
    calls = [call("Read", file_path="src/deep/er/a.py"), call("Edit", file_path="src/a.py"), call("Agent", model="m7")]
    rulings = [policy.judge(each).ruling for each in calls]

    def cost(each):
        began = time.process_time()
        for _ in range(200):
            policy.judge(each)
        return (time.process_time() - began) / 200

    assert rulings == [ALLOW, ASK, DENY]
    assert max(min(cost(each) for _ in range(5)) for each in calls) / slowness() < 0.000_4


def test_a_link_that_takes_the_place_of_an_added_folder_leads_nowhere_new(tmp_path):
    project, away = tmp_path / "project", tmp_path / "away"
    project.mkdir()
    away.mkdir()
    policy = RulePolicy("default", Workplace(folder=str(project), added=("more",)))
    before = policy.folders

    (project / "more").symlink_to(away)
    policy.replace_rules(())

    assert policy.folders == before == (str(project), f"{project}/more")


@pytest.mark.parametrize(
    ("command", "quoted"),
    [
        ("rm -rf $T", "rm -rf $T"),
        ("cd x && rm -rf `ls`", "rm -rf `ls`"),
        ('rm -rf "$T"/x', 'rm -rf "$T"/x'),
        ("sh -c 'rm -rf ${T:?}/a'", "rm -rf ${T:?}/a"),
        ("find . | xargs rm", "xargs rm"),
    ],
)
def test_what_removes_something_unknown_is_quoted_as_it_was_written(tmp_path, command, quoted):
    policy = RulePolicy("default", str(tmp_path), rules=[parse_rule("Bash", Ruling.ALLOW)])

    assert repr(quoted) in policy.judge(call("Bash", command=command)).reason
