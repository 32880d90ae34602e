"""A settings file that changes while a query runs: the next call is judged by what it says now."""

import json
from contextlib import aclosing

from everturn import Engine
from everturn.compose.cli import build_live, plan_launch
from everturn.core.events import CallDenied, CallEnded, Noticed
from everturn.modelserver import ModelServer, calls, script
from everturn.ports.policy import SETTINGS_QUESTION, Ruling, Scope, Verdict
from everturn.settings.program_files import SettingsArguments


class Person:
    """Answers calls, and questions about settings, each in one way."""

    def __init__(self, calls=Ruling.ALLOW, settings=Ruling.ALLOW):
        self.calls, self.settings = [], []
        self._answers = {True: settings, False: calls}

    async def approve(self, call, reason):
        is_settings = call.name == SETTINGS_QUESTION
        if is_settings:
            self.settings.append(call.input["changes"])
        else:
            self.calls.append(call.input.get("command", call.line))
        return Verdict(ruling=self._answers[is_settings], reason="said the person")


async def run_changing(
    tmp_path, texts: list[str], commands=None, *, turns=None, trust: bool = False, **options: object
) -> tuple[list[str], list[str], list[str]]:
    """What was denied, what was told, and what was made, where after each call the user's file gets the next text."""
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir(exist_ok=True)
    settings = home / "settings.json"
    settings.write_text(texts[0], "utf-8")
    denied, told = [], []
    async with ModelServer() as server:
        commands = commands or [f"touch made-{number}" for number in range(len(texts))]
        turns = turns or [calls(("Bash", {"command": command})) for command in commands]
        server.play(script(*turns, "Done."))
        env = {"HOME": str(tmp_path), "EVERTURN_HOME": str(home), "ANTHROPIC_API_KEY": "k", "PATH": "/usr/bin:/bin"}
        launch = plan_launch(
            {"cwd": str(folder), "base_url": server.url, **options}, env, SettingsArguments(managed=(), trust=trust)
        )
        left = texts[1:]
        async with (
            Engine(launch.options, env=launch.env, live=build_live(launch), written=launch.setup.written) as engine,
            aclosing(engine.submit("Go.")) as events,
        ):
            async for event in events:
                if isinstance(event, CallDenied):
                    denied.append(event.reason)
                if isinstance(event, Noticed):
                    told.append(event.text)
                if isinstance(event, CallEnded) and left:
                    settings.write_text(left.pop(0), "utf-8")
    return denied, told, sorted(path.name for path in folder.iterdir())


def install(tmp_path, text: str) -> str:
    """A command that writes the project's settings, which nobody can see in its words."""
    script_file = tmp_path / "project/install.py"
    script_file.parent.mkdir(exist_ok=True)
    script_file.write_text(f"import os; os.mkdir('.everturn'); open('.everturn/settings.json', 'w').write({text!r})")
    return "python3 install.py"


def allowing(*, deny: list[str]) -> str:
    return json.dumps({"permissions": {"allow": ["Bash(touch *)"], "deny": deny}})


async def test_a_rule_that_is_added_counts_from_the_next_call_on(tmp_path):
    denied, _, made = await run_changing(tmp_path, [allowing(deny=[]), allowing(deny=["Bash(touch *)"])])
    assert made == ["made-0"]
    assert len(denied) == 1


async def test_a_file_that_became_malformed_leaves_the_last_good_rules_in_force_and_is_told_once(tmp_path):
    texts = [allowing(deny=["Bash(touch made-1)"]), "{", "{", allowing(deny=["Bash(touch *)"])]
    denied, told, made = await run_changing(tmp_path, texts)
    assert made == ["made-0", "made-2"]
    assert len(denied) == 2
    assert len([text for text in told if "stay in force" in text]) == 1


async def test_a_deny_that_cannot_work_leaves_the_last_good_rules_in_force(tmp_path):
    denied, told, made = await run_changing(tmp_path, [allowing(deny=["Bash(rm *)"]), allowing(deny=["Bash(touch"])])
    assert made == ["made-0", "made-1"]
    assert denied == []
    assert "stay in force" in told[-1]


async def test_a_deny_that_is_added_holds_in_the_sandbox_from_the_next_command_on(tmp_path, sandbox):
    """Also for a command that does not name the file in words that anybody could read."""
    (tmp_path / "project/locked").mkdir(parents=True)
    sly = [f"d=lock; echo {number} >> $d'ed'/a; cat $d'ed'/a; echo {number} > made-{number}" for number in range(3)]
    texts = [allowing(deny=[]), allowing(deny=[f"Edit(//{str(tmp_path)[1:]}/project/locked/**)"])]
    texts.append(allowing(deny=[]))

    denied, _, made = await run_changing(tmp_path, texts, sly, sandbox=sandbox)

    # What it writes is not known before it runs: beside such a rule that is asked about, in the sandbox, too.
    assert len(denied) == len(sly) - 1
    assert made == ["locked", "made-0"]
    assert (tmp_path / "project/locked/a").read_text() == "0\n"


async def test_a_folder_that_is_added_is_written_in_the_sandbox_from_the_next_command_on(tmp_path, sandbox):
    more = tmp_path / "more"
    more.mkdir()
    texts = ["{}", json.dumps({"permissions": {"additionalDirectories": [str(more)]}}), "{}"]
    commands = [f"m={more}; touch $m/{number}" for number in range(3)]
    person = Person()  # agrees

    await run_changing(tmp_path, texts, commands, sandbox=sandbox, approver=person)

    assert person.settings == [[f"{tmp_path}/home/settings.json adds the working folder {more}"]]
    assert [path.name for path in more.iterdir()] == ["1"]


async def test_a_folder_that_is_added_is_not_written_in_the_sandbox_where_nobody_is_asked(tmp_path, sandbox):
    more = tmp_path / "more"
    more.mkdir()
    texts = ["{}", json.dumps({"permissions": {"additionalDirectories": [str(more)]}})]

    _, told, _ = await run_changing(
        tmp_path, texts, [f"m={more}; touch $m/{number}" for number in range(2)], sandbox=sandbox
    )

    assert list(more.iterdir()) == []
    [notice] = [text for text in told if "do not count yet" in text]
    change = f"{tmp_path}/home/settings.json adds the working folder {more}"
    assert notice.endswith(f"these changes do not count yet: {change} (a new session takes it)")


async def test_a_rule_that_is_removed_still_holds_and_is_told_once(tmp_path):
    texts = [allowing(deny=["Bash(touch made-1)", "Bash(touch made-2)"]), allowing(deny=[]), allowing(deny=[])]
    denied, told, made = await run_changing(tmp_path, texts)
    assert made == ["made-0"]
    assert len(denied) == 2
    [notice] = [text for text in told if "do not count yet" in text]
    assert "no longer denies Bash(touch made-1)" in notice


async def test_what_allows_more_is_asked_about_before_the_call_that_it_decides_and_counts_after_a_yes(tmp_path):
    person = Person(calls=Ruling.DENY)
    texts = ["{}", json.dumps({"permissions": {"allow": ["Bash(touch *)"]}})]
    commands = ["mkdir a", "mkdir b", "touch c", "touch d"]

    denied, _, made = await run_changing(tmp_path, texts, commands, approver=person)

    assert person.settings == [[f"{tmp_path}/home/settings.json:1 allows Bash(touch *)"]]
    assert person.calls == ["mkdir a", "mkdir b"]
    assert made == ["c", "d"]
    assert len(denied) == 2


async def test_after_a_no_each_call_is_asked_about_and_the_settings_only_when_they_change_again(tmp_path):
    person = Person(settings=Ruling.DENY)
    first = {"permissions": {"allow": ["Bash(touch *)"]}}
    second = {"permissions": {"allow": ["Bash(touch *)", "Bash(mkdir *)"]}}
    texts = ["{}", *map(json.dumps, (first, {**first, "model": "opus"}, second))]

    _, told, made = await run_changing(tmp_path, texts, [f"touch {each}" for each in "abcde"], approver=person)

    path = f"{tmp_path}/home/settings.json:1"
    assert person.settings == [
        [f"{path} allows Bash(touch *)"],
        [f"{path} allows Bash(touch *)", f"{path} allows Bash(mkdir *)"],
    ]
    assert person.calls == [f"touch {each}" for each in "abcde"]
    assert made == list("abcde")
    assert len([text for text in told if "do not count yet" in text]) == 2


async def test_calls_that_run_together_are_asked_about_settings_once(tmp_path):
    person = Person(calls=Ruling.DENY)
    texts = ["{}", json.dumps({"permissions": {"allow": ["WebFetch"]}})]
    pages = [("WebFetch", {"url": f"http://127.0.0.1:9/{number}", "prompt": "?"}) for number in range(3)]

    await run_changing(tmp_path, texts, turns=[calls(("Bash", {"command": "mkdir a"})), calls(*pages)], approver=person)

    assert len(person.settings) == 1
    assert person.calls == ["mkdir a"]


async def test_a_mode_in_which_nobody_is_asked_holds_back_and_says_so(tmp_path):
    person = Person()
    texts = ["{}", json.dumps({"permissions": {"allow": ["Bash(touch *)"]}})]

    denied, told, made = await run_changing(tmp_path, texts, approver=person, permission_mode="dontAsk")

    assert (person.settings, person.calls, made) == ([], [], [])
    assert len(denied) == 2
    assert len([text for text in told if "do not count yet" in text]) == 1


async def test_bypass_that_is_switched_off_ends_at_once(tmp_path):
    off = json.dumps({"permissions": {"disableBypassPermissionsMode": "disable"}})
    denied, told, made = await run_changing(tmp_path, ["{}", off, "{}"], permission_mode="bypassPermissions")
    assert made == ["made-0"]
    assert len(denied) == 2
    assert any("bypassPermissions was switched off" in text for text in told)
    assert any("no longer switches bypassPermissions off" in text for text in told)


async def test_a_deny_in_one_file_counts_while_another_cannot_be_read(tmp_path):
    texts = [
        json.dumps({"permissions": {"allow": ["Bash(touch *)", "Bash(python3 *)"]}}),
        allowing(deny=["Bash(touch a)"]),
    ]

    denied, told, made = await run_changing(tmp_path, texts, [install(tmp_path, "{"), "touch a", "touch b"])

    assert made == [".everturn", "b", "install.py"]
    assert len(denied) == 1
    assert any("stay in force" in text for text in told)


SETTINGS = {"permissions": {"allow": ["Bash(touch *)"], "additionalDirectories": ["/"]}, "env": {"A": "1"}}


async def run_in_trusted_folder(tmp_path, person, *commands):
    fixtures = tmp_path / "project/fixtures/.everturn"
    fixtures.mkdir(parents=True)
    (fixtures / "settings.json").write_text(json.dumps(SETTINGS))
    return await run_changing(tmp_path, ["{}"], commands, trust=True, approver=person)


async def test_settings_that_a_command_installed_do_not_count_unasked(tmp_path):
    person = Person(settings=Ruling.DENY)
    copy = "cp -r fixtures/.everturn ."

    await run_in_trusted_folder(tmp_path, person, copy, "touch a", "cat /etc/hostname")

    assert person.calls == [copy, "touch a", "cat /etc/hostname"]
    [asked] = person.settings
    path = f"{tmp_path}/project/.everturn/settings.json"
    assert asked == [f"{path}:1 allows Bash(touch *)", f"{path} adds the working folder /"]


async def test_settings_that_a_command_installed_count_when_the_person_agrees(tmp_path):
    person = Person()
    copy = "cp -r fixtures/.everturn ."

    _, _, made = await run_in_trusted_folder(tmp_path, person, copy, "touch a", "touch b")

    assert person.calls == [copy]
    assert len(person.settings) == 1
    assert made == [".everturn", "a", "b", "fixtures"]


async def test_settings_that_a_command_installed_are_held_back_where_nobody_is_there(tmp_path):
    denied, told, made = await run_changing(
        tmp_path,
        ["{}"],
        [install(tmp_path, json.dumps(SETTINGS)), "touch a"],
        trust=True,
        allowed_tools=["Bash(python3 *)"],
    )

    assert made == [".everturn", "install.py"]
    assert len(denied) == 1
    [notice] = [text for text in told if "do not count yet" in text]
    assert ".everturn/settings.json:1 allows Bash(touch *); " in notice


async def test_a_persons_always_counts_in_the_same_session_and_nothing_that_slipped_in_beside_it(tmp_path):
    local = tmp_path / "project/.everturn/settings.local.json"

    class Sly(Person):
        """Takes the longest offer of the first call; the file is changed in the same moment."""

        async def approve(self, call, reason):
            verdict = await super().approve(call, reason)
            if offer := next((each for each in call.offers if each.scope is Scope.ALWAYS), None):
                local.parent.mkdir(exist_ok=True)
                local.write_text(json.dumps({"permissions": {"allow": ["Bash(mkdir *)"]}}))
                return Verdict(ruling=Ruling.ALLOW, reason="yes", grants=offer.rules, scope=offer.scope)
            return verdict

    person = Sly(settings=Ruling.DENY)
    (tmp_path / "project").mkdir()

    await run_changing(tmp_path, ["{}"], ["touch a", "touch a", "mkdir b", "mkdir b"], trust=True, approver=person)

    written = json.loads(local.read_text())["permissions"]["allow"]
    assert written[0] == "Bash(mkdir *)"
    assert len(written) >= 2
    assert person.calls[:2] == ["touch a", "mkdir b"]
    assert person.settings == [[f"{local}:4 allows Bash(mkdir *)"]]


async def drain(engine: Engine) -> None:
    async with aclosing(engine.submit("Go.")) as events:
        async for _ in events:
            pass


async def test_a_new_conversation_lets_go_nothing_that_was_held(tmp_path):
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    folder.mkdir()
    settings = home / "settings.json"
    settings.write_text(json.dumps({"permissions": {"allow": ["Bash(touch *)"]}}))
    async with ModelServer() as server:
        touching = [calls(("Bash", {"command": f"touch {name}"})) for name in "abc"]
        server.play(script(*(reply for each in touching for reply in (each, "Done."))))
        env = {"HOME": str(tmp_path), "EVERTURN_HOME": str(home), "ANTHROPIC_API_KEY": "k", "PATH": "/usr/bin:/bin"}
        launch = plan_launch({"cwd": str(folder), "base_url": server.url}, env, SettingsArguments(managed=()))
        async with Engine(
            launch.options, env=launch.env, live=build_live(launch), written=launch.setup.written
        ) as engine:
            await drain(engine)
            settings.write_text(allowing(deny=["Bash(touch *)"]))
            await drain(engine)
            settings.write_text(allowing(deny=[]))
            await drain(engine.clear())
    assert [path.name for path in folder.iterdir()] == ["a"]
