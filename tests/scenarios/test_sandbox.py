"""A sandbox for commands: inside it nobody is asked, to leave it a person always is, and the model is told what was held back."""

import asyncio

import pytest
from tests.sandbox.kinds import LANDLOCK, NOWHERE
from tests.sandbox.servers import Server

from everturn.compose.cli import watch_memory
from everturn.core.errors import OptionError
from everturn.modelserver import call, text
from everturn.ports.policy import HOST_QUESTION, Ruling, Verdict
from everturn.sandbox.command_sandbox import MAX_COVERED
from everturn.sandbox.probe import find_means
from everturn.settings.memory import Memory
from everturn.settings.places import SettingsRoots


class Approver:
    """Of calls. A host that a command in the sandbox wants is refused."""

    def __init__(self, ruling=Ruling.ALLOW):
        self.verdict = Verdict(ruling=ruling, reason="said the person")
        self.asked = []

    async def approve(self, call, reason):
        if call.name == HOST_QUESTION:
            return Verdict(ruling=Ruling.DENY, reason="the person said no")
        self.asked.append((call.input["command"], reason))
        return self.verdict


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def answers(bench, place=1):
    return [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]


async def left(bench):
    """In the folder, after the session."""
    await bench.engines[-1].aclose()
    return [path.name for path in bench.folder.iterdir()]


async def test_commands_in_the_sandbox_run_unasked_and_stay_inside(bench, sandbox):
    outside = bench.home.parent / "outside"
    bench.model(bash(f"echo a > a; echo b > {outside}"), text("Done."))

    await bench.run(sandbox=sandbox)

    assert await left(bench) == ["a"]
    assert not outside.exists()
    [told] = answers(bench)
    assert f"{outside} cannot be written; only {bench.folder}" in told
    assert "dangerouslyDisableSandbox" in told


@pytest.mark.needs("bubblewrap")
async def test_the_model_knows_that_there_is_a_sandbox(bench):
    bench.model(text("Fine."), text("Fine."))

    await bench.run(sandbox={"enabled": True, "network": {"allowedDomains": ["example.com"]}})
    await bench.run()

    inside, outside = (
        next(tool["description"] for tool in body["tools"] if tool["name"] == "Bash") for body in bench.bodies
    )
    assert "Commands run in a sandbox." in inside
    assert "only example.com" in inside
    assert "in a sandbox" not in outside


@pytest.mark.needs("bubblewrap")
async def test_the_field_to_leave_a_sandbox_is_offered_where_it_means_something_and_taken_anywhere(bench):
    bench.model(text("Fine."), text("Fine."), bash("echo ok", dangerouslyDisableSandbox="false"), text("Fine."))

    await bench.run(sandbox=True)
    await bench.run(sandbox={"enabled": True, "allowUnsandboxedCommands": False})
    await bench.run()

    fields = [
        next(tool["input_schema"]["properties"] for tool in body["tools"] if tool["name"] == "Bash")
        for body in bench.bodies
    ]
    assert ["dangerouslyDisableSandbox" in each for each in fields] == [True, False, False, False]
    assert answers(bench, -1) == ["ok"]


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
async def test_to_leave_the_sandbox_a_person_is_asked_in_every_mode(bench, sandbox, mode):
    outside, approver = bench.home.parent / "outside", Approver()
    command = f"touch {outside}"
    bench.model(bash(command, dangerouslyDisableSandbox=True), text("Done."))

    await bench.run(sandbox=sandbox, approver=approver, permission_mode=mode)

    assert [asked for asked, _ in approver.asked] == [command]
    assert outside.exists()


async def test_without_anybody_to_ask_nothing_leaves_the_sandbox(bench, sandbox):
    outside = bench.home.parent / "outside"
    bench.model(bash(f"touch {outside}", dangerouslyDisableSandbox=True), text("Then not."))

    run = await bench.run(sandbox=sandbox, permission_mode="bypassPermissions")

    assert not outside.exists()
    assert len(run.result.denials) == 1


async def test_an_exact_rule_lets_a_command_out(bench, sandbox):
    command = f"touch {bench.home.parent / 'outside'}"
    bench.model(bash(command, dangerouslyDisableSandbox=True), text("Done."))

    run = await bench.run(sandbox=sandbox, allowed_tools=[f"Bash({command})"])

    assert run.result.denials == ()
    assert (bench.home.parent / "outside").exists()


async def test_where_nothing_may_leave_the_wish_is_passed_over(bench, sandbox):
    outside, approver = bench.home.parent / "outside", Approver()
    bench.model(bash(f"touch {outside}", dangerouslyDisableSandbox=True), text("Then not."))

    await bench.run(sandbox={**sandbox, "allowUnsandboxedCommands": False}, approver=approver)

    assert not outside.exists()
    assert approver.asked == []
    assert "sandbox.allowUnsandboxedCommands is false" in answers(bench)[0]


async def test_rules_that_deny_or_ask_hold_in_the_sandbox(bench, sandbox):
    approver = Approver(Ruling.DENY)
    bench.model(bash("touch a"), bash("mkdir b"), bash("echo c > c"), text("Done."))

    run = await bench.run(
        sandbox=sandbox, approver=approver, disallowed_tools=["Bash(touch *)"], ask_tools=["Bash(mkdir *)", "Bash"]
    )

    assert [asked for asked, _ in approver.asked] == ["mkdir b"]
    assert len(run.result.denials) == 2
    assert await left(bench) == ["c"]


def by_program(*steps):
    """A line that names no file: what it opens, judgement cannot see."""

    def spell(name):
        return '"".join(map(chr, [' + ", ".join(str(ord(letter)) for letter in name) + "]))"

    lines = ["import os"]
    for step, name in steps:
        lines += [
            "try:",
            "    " + step.replace("NAME", spell(name)),
            "except OSError as error:",
            "    print(error.strerror)",
        ]
    return "python3 - <<'E'\n" + "\n".join(lines) + "\nE"


READ, WRITE, REMOVE = "print(open(NAME).read())", 'open(NAME, "w").write("new")', "os.remove(NAME)"


async def test_what_rules_deny_to_read_and_edit_is_denied_to_commands(bench, sandbox):
    for name in (".env", "locked/a", "free"):
        (bench.folder / name).parent.mkdir(exist_ok=True)
        (bench.folder / name).write_text("old")
    bench.model(bash(by_program((READ, ".env"), (WRITE, "locked/a"), (WRITE, "free"))), text("Done."))

    await bench.run(
        sandbox=sandbox, disallowed_tools=["Read(./.env)", "Edit(/locked/**)"], permission_mode="bypassPermissions"
    )

    assert [(bench.folder / name).read_text() for name in ("locked/a", "free")] == ["old", "new"]
    assert "Permission denied" in answers(bench)[0]


@pytest.mark.parametrize(
    ("deny", "name"),
    [
        ("Read(.env)", "sub/deep/.env"),
        ("Read(**/.env)", "sub/.env"),
        ("Read(.ENV)", ".env"),
        ("Read(/SUB/x)", "sub/x"),
        ("Read(*.pem)", "key.pem"),
        ("Read(*.pem)", "sub/deep/key.pem"),
        ("Read(/sub/*.p?m)", "sub/key.pem"),
        ("Read(secret/**)", "other/secret/k"),
        ("Read(./secret)", "other/secret/k"),
        ("Read(/link/*.txt)", "really/a.txt"),
        ("Read(../beside*/k)", "../beside/k"),
    ],
)
async def test_whatever_a_deny_rule_covers_no_command_in_the_sandbox_reads_or_writes(bench, sandbox, deny, name):
    """The wall alone: judgement sees no name, and lets it run."""
    (bench.folder / name).parent.mkdir(parents=True, exist_ok=True)
    (bench.folder / name).write_text("gold")
    (bench.folder / "really").mkdir(exist_ok=True)
    (bench.folder / "link").symlink_to("really")
    approver = Approver(Ruling.DENY)
    bench.model(bash(by_program((READ, name), (WRITE, name), (REMOVE, name))), text("Done."))

    await bench.run(sandbox=sandbox, disallowed_tools=[deny], approver=approver)

    assert approver.asked == []
    assert "gold" not in answers(bench)[0]
    assert (bench.folder / name).read_text() == "gold"


@pytest.mark.parametrize(
    ("deny", "name"),
    [
        ("Edit(*.lock)", "a.lock"),
        ("Edit(*.lock)", "sub/deep/a.lock"),
        ("Edit(*.LOCK)", "a.lock"),
        ("Edit(vendor/**)", "sub/vendor/x"),
        ("Edit(/sub/*/x)", "sub/any/x"),
    ],
)
async def test_whatever_a_rule_keeps_from_being_edited_no_command_in_the_sandbox_writes(bench, sandbox, deny, name):
    for each in (name, "sub/free"):
        (bench.folder / each).parent.mkdir(parents=True, exist_ok=True)
        (bench.folder / each).write_text("old")
    approver = Approver(Ruling.DENY)
    bench.model(bash(by_program((READ, name), (WRITE, name), (REMOVE, name), (WRITE, "sub/free"))), text("Done."))

    await bench.run(sandbox=sandbox, disallowed_tools=[deny], approver=approver)

    assert approver.asked == []
    assert answers(bench)[0].splitlines()[0] == "old"
    assert [(bench.folder / each).read_text() for each in (name, "sub/free")] == ["old", "new"]


async def test_the_home_is_that_of_the_commands_whatever_the_engine_was_given(bench, sandbox, monkeypatch):
    """The settings are read from the other one."""
    monkeypatch.setenv("HOME", str(bench.folder))
    bench.env["HOME"] = str(bench.home)
    for name in (".ssh/config", "notes.txt", "free"):
        (bench.folder / name).parent.mkdir(exist_ok=True)
        (bench.folder / name).write_text("old")
    (bench.folder / "try.sh").write_text(
        "echo new > ~/notes.txt; echo new > ~/.ssh/config; echo new > ~/free; cat ~/free"
    )
    bench.model(bash("sh try.sh"), text("Done."))

    await bench.run(sandbox=sandbox, disallowed_tools=["Edit(~/notes.txt)"], approver=Approver())

    left = [(bench.folder / name).read_text() for name in (".ssh/config", "notes.txt", "free")]
    assert left == ["old", "old", "new\n"]


async def test_where_rules_deny_more_files_than_can_be_held_commands_are_asked_about(bench, sandbox):
    for number in range(MAX_COVERED + 1):
        (bench.folder / f"{number}.pem").write_text("gold")
    approver = Approver(Ruling.DENY)
    bench.model(bash("touch made"), text("Done."))

    await bench.run(sandbox=sandbox, disallowed_tools=["Read(*.pem)"], approver=approver)

    assert [asked for asked, _ in approver.asked] == ["touch made"]
    assert not (bench.folder / "made").exists()


async def test_files_that_no_longer_fit_under_the_wall_stop_the_command(bench, sandbox):
    many = f"python3 - <<'E'\nfor n in range({MAX_COVERED + 1}):\n    open(str(n) + '.' + 'key', 'w').close()\nE"
    bench.model(bash(many), bash("touch made"), bash("touch made"), text("Done."))
    approver = Approver(Ruling.DENY)

    await bench.run(sandbox=sandbox, disallowed_tools=["Read(*.key)"], approver=approver)

    assert "Run it again: then the person is asked" in answers(bench, 2)[0]
    assert [asked for asked, _ in approver.asked] == ["touch made"]
    assert not (bench.folder / "made").exists()


async def test_where_the_sandbox_is_not_enough_commands_are_judged_as_usual(bench, sandbox):
    approver = Approver(Ruling.DENY)
    bench.model(bash("touch a"), text("Then not."))

    await bench.run(sandbox={**sandbox, "autoAllowBashIfSandboxed": False}, approver=approver)

    assert [asked for asked, _ in approver.asked] == ["touch a"]


async def test_in_plan_mode_the_sandbox_allows_nothing(bench, sandbox):
    bench.model(bash("touch a"), text("Then not."))

    run = await bench.run(sandbox=sandbox, permission_mode="plan")

    assert len(run.result.denials) == 1
    assert list(bench.folder.iterdir()) == []


async def test_an_excluded_command_runs_outside_and_asks_as_usual(bench, sandbox):
    outside, approver = bench.home.parent / "outside", Approver()
    bench.model(bash(f"touch {outside}"), bash(f"touch {outside}2; true"), text("Done."))

    await bench.run(sandbox={**sandbox, "excludedCommands": ["touch *"]}, approver=approver)

    assert [asked for asked, _ in approver.asked] == [f"touch {outside}"]
    assert outside.exists()
    assert not outside.with_name("outside2").exists()


@pytest.mark.needs("Landlock")
async def test_where_the_chosen_program_does_not_work_the_next_best_is_taken(bench):
    outside = bench.home.parent / "outside"
    bench.model(bash(f"echo a > a; echo b > {outside}; echo $EVERTURN_SANDBOX"), text("Done."))

    await bench.run(sandbox=LANDLOCK)

    means = find_means(NOWHERE)
    assert (means.kind, "bubblewrap does not work here" in means.why) == ("landlock", True)
    assert not outside.exists()
    assert answers(bench)[0].splitlines()[-1] == "landlock"


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize("place", ["{folder}/bwrap", "./bwrap", "bwrap", "{folder}/../project-link/bwrap"])
@pytest.mark.parametrize("enabled", [True, False])
async def test_a_program_of_the_working_folder_holds_nothing(bench, place, enabled):
    """Neither the sandbox nor what holds edits: it would run as we do."""
    fake, mark = bench.folder / "bwrap", bench.home.parent / "mark"
    fake.write_text(f"#!/bin/sh\ntouch {mark}\n", "utf-8")
    fake.chmod(0o755)
    bench.folder.with_name("project-link").symlink_to(bench.folder)
    bench.model(bash("ls"), bash("cp bwrap other"), text("Done."))

    sandbox = {"enabled": enabled, "bwrapPath": place.format(folder=bench.folder)}
    await bench.run(sandbox=sandbox, permission_mode="acceptEdits")

    assert not mark.exists()
    assert "no absolute path outside of the working folders" in find_means(str(fake), folders=(str(bench.folder),)).why


@pytest.mark.needs("Landlock")
async def test_the_weaker_sandbox_alone_answers_for_nobody(bench):
    bench.model(bash("touch a"), text("Then not."))

    run = await bench.run(sandbox={"enabled": True, "bwrapPath": NOWHERE})

    assert len(run.result.denials) == 1


@pytest.mark.needs("Landlock")
async def test_hosts_without_a_way_to_them_are_told_at_the_start(bench):
    bench.model(text("Fine."))

    run = await bench.run(sandbox={"enabled": True, "bwrapPath": NOWHERE, "network.allowedDomains": ["example.com"]})

    assert any("that takes bubblewrap" in notice.text for notice in run.of("notice", "noticed", "system_notice"))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"enabled": True, "filesystem": {"allowWrite": ["*.log"]}}, "wildcards do not work here"),
        ({"enabled": True, "network": {"allowedDomains": ["http://example.com"]}}, "which is no host"),
        ({"enabled": True, "netwerk": {}}, "knows no 'netwerk"),
        ({"enabled": True, "network": {"tlsTerminate": True}}, "is not supported: connections are passed on unread"),
        ({"enabled": "yes"}, "must be true or false"),
        ("yes", "must be true, false, or a map of settings"),
    ],
)
async def test_wrong_settings_are_refused_with_a_reason(bench, settings, problem):
    with pytest.raises(OptionError, match=problem):
        bench.engine(sandbox=settings)


@pytest.mark.needs("bubblewrap", "curl")
async def test_a_host_that_was_refused_is_told_and_reached_outside_when_the_person_agrees(bench, tmp_path):
    """As with files: the model learns which host it was, and to try again outside is a question to the person."""
    (tmp_path / "page").write_text("hello")
    server, approver = Server(tmp_path), Approver()
    command = f"curl -sS --fail --noproxy '' http://127.0.0.1:{server.port}/page"
    bench.model(bash(command), bash(command, dangerouslyDisableSandbox=True), text("Done."))

    try:
        await bench.run(sandbox={"enabled": True, "network": {"allowedDomains": ["example.com"]}}, approver=approver)
    finally:
        server.shutdown()
        server.server_close()

    (held,), (reached,) = answers(bench), answers(bench, 2)
    assert f"127.0.0.1:{server.port} was not reached: the person said no" in held
    assert "call Bash again with dangerouslyDisableSandbox set to true: the person is asked" in held
    assert reached == "hello"
    assert [asked for asked, _ in approver.asked] == [command]
    assert server.asked == ["/page"]


@pytest.mark.parametrize("there", ["", "Use tabs."])
async def test_what_a_command_in_the_background_writes_to_memory_files_is_not_told_to_the_model(bench, sandbox, there):
    """It is put back at the command's end; until then it must not count, either."""
    memory = Memory(SettingsRoots(home=str(bench.home), folder=str(bench.folder), root=str(bench.folder)), trusted=True)
    if there:
        (bench.folder / "AGENTS.md").write_text(there)
    evil = "until [ -e enough ]; do for name in AGENTS CLAUDE; do echo evil words > e; mv -f e $name.md; done; done; rm -f e"
    bench.model(bash(evil, run_in_background=True), text("Done."), text("Still."), bash(": > enough"), text("Enough."))
    engine = bench.engine(sandbox=sandbox, user_context=watch_memory(memory))

    await bench.go_on(engine)
    while not (bench.folder / "CLAUDE.md").exists():  # noqa: ASYNC110 - the command announces nothing
        await asyncio.sleep(0)
    await bench.go_on(engine)
    await bench.go_on(engine)
    await engine.aclose()

    assert not (bench.folder / "CLAUDE.md").exists()
    contexts = [
        block["text"]
        for body in bench.bodies
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "text" and f"## {bench.folder}/" in block["text"]
    ]
    assert bool(contexts) == bool(there)
    assert not any("evil words" in told for told in contexts)


@pytest.mark.needs("bubblewrap")
async def test_what_a_command_in_the_sandbox_has_made_for_a_moment_is_not_brought_back_behind_an_edit(bench):
    """The edit begins while it is there, and ends when the sandbox has taken it away."""
    made = ".git/config.worktree"
    (bench.folder / ".git").mkdir()
    until_there, until_gone = (
        f"for i in $(seq 1000); do [ {sign} {name} ] && break; sleep 0.01; done"
        for sign, name in (("-e", "{}"), ("! -e", made))
    )
    bench.model(
        bash(f"echo evil > {made}; {until_there.format('began')}", run_in_background=True),
        bash(until_there.format(made)),
        bash(f"mkdir began; {until_gone}"),
        text("Done."),
    )

    wanted = {"enabled": True, "autoAllowBashIfSandboxed": False}
    await bench.run(sandbox=wanted, permission_mode="acceptEdits", approver=Approver())

    assert "began" in await left(bench)
    assert not (bench.folder / made).exists()


@pytest.mark.needs("Landlock")
async def test_a_home_of_ours_in_the_workspace_is_not_written_by_commands_and_keeps_what_we_write(bench):
    home = bench.folder / "home"
    bench.model(bash("echo one"), bash("find home -type f -exec sh -c 'echo evil >> {}' \\;; mv home h"), text("Done."))
    wanted = {"enabled": True, "bwrapPath": NOWHERE, "autoAllowBashIfSandboxed": True}
    engine = bench.engine(sandbox=wanted, home=home)

    await bench.go_on(engine)

    [journal] = home.rglob("*.jsonl")
    told = journal.read_text()
    assert told.count('"tool_result"') == 2
    assert "evil\n" not in told


@pytest.mark.needs("Landlock")
async def test_with_landlock_alone_the_first_message_says_what_it_does_not_hold_and_which_setting_trusts_it(bench):
    bench.model(text("Hello."))

    run = await bench.run(sandbox={"enabled": True, "bwrapPath": NOWHERE})

    [told] = [event.text for event in run.of("notice") if "Landlock alone" in event.text]
    assert "sandbox.autoAllowBashIfSandboxed" in told
    assert "modes, owners and times" in told


@pytest.mark.needs("Landlock")
@pytest.mark.parametrize("enough", [True, False])
async def test_who_has_said_whether_landlock_is_enough_is_told_nothing(bench, enough):
    bench.model(text("Hello."))

    run = await bench.run(sandbox={"enabled": True, "bwrapPath": NOWHERE, "autoAllowBashIfSandboxed": enough})

    assert [event for event in run.of("notice") if "Landlock alone" in event.text] == []
