"""A host that nothing names is asked about while the connection waits: once, for the session, always, or no."""

import asyncio
import json

import pytest
from tests.sandbox.kinds import LANDLOCK, NOWHERE
from tests.sandbox.servers import Server

from everturn.core.state import Reason
from everturn.modelserver import call, text
from everturn.ports.policy import Ruling, Scope, Verdict
from everturn.sandbox.probe import find_means
from everturn.settings.setup import WrittenSettings

REACHED = pytest.mark.needs("bubblewrap", "curl")
UNNAMED = "sandbox.network.allowedDomains does not name it"


class Person:
    """Takes the offer of a scope, or says yes once, or no."""

    one_at_a_time = True

    def __init__(self, scope=Scope.ONCE, *, ruling=Ruling.ALLOW, reason="said the person", takes_s=0.0):
        self.scope, self.ruling, self.reason, self.takes_s = scope, ruling, reason, takes_s
        self.asked = []
        self.left = 0

    async def approve(self, call, reason):
        self.asked.append((call, reason))
        try:
            await asyncio.sleep(self.takes_s)
        except asyncio.CancelledError:
            self.left += 1
            raise
        grants = next((offer.rules for offer in call.offers if offer.scope is self.scope), ())
        return Verdict(ruling=self.ruling, reason=self.reason, grants=grants, scope=self.scope)

    @property
    def inputs(self):
        return [asked.input for asked, _ in self.asked]


class Absent(Person):
    """Never answers; leaves a mark when asked."""

    def __init__(self, mark):
        super().__init__(takes_s=1_000_000)
        self.mark = mark

    async def approve(self, call, reason):
        self.mark.touch()
        return await super().approve(call, reason)


@pytest.fixture
def page(tmp_path):
    (tmp_path / "page").write_text("a page")
    server = Server(tmp_path)
    yield server
    server.close()


def fetch(server, more=""):
    return f"curl -sS --fail --noproxy '' {server.url}/page{more}"


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def answer(bench, place=1):
    [told] = [block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"]
    return told


def wanted(server, command):
    return {"host": "127.0.0.1", "port": server.port, "command": command}


def local_settings(bench):
    return bench.folder / ".everturn" / "settings.local.json"


@REACHED
async def test_the_person_is_asked_while_the_connection_waits(bench, page):
    person, command = Person(), fetch(page)
    bench.model(bash(command), text("Done."))

    run = await bench.run(sandbox=True, approver=person)

    [(asked, reason)] = person.asked
    assert (asked.input, reason) == (wanted(page, command), UNNAMED)
    assert answer(bench) == "a page"
    kinds = [kind for kind in run.kinds if kind in {"tool_start", "permission_request", "tool_end"}]
    assert kinds == ["tool_start", "permission_request", "tool_end"]
    [event] = run.of("permission_request")
    assert (event.name, event.line) == ("sandbox.network", f"a connection to 127.0.0.1:{page.port}")


@REACHED
async def test_a_yes_once_is_for_one_command(bench, page):
    person, command = Person(), f"{fetch(page)}; {fetch(page)}"
    bench.model(bash(command), bash(command), text("Done."))

    await bench.run(sandbox=True, approver=person)

    assert person.inputs == [wanted(page, command)] * 2
    assert (answer(bench), answer(bench, 2)) == ("a pagea page", "a pagea page")


@REACHED
async def test_a_yes_for_the_session_is_not_asked_again_and_not_written(bench, page):
    person = Person(Scope.SESSION)
    bench.model(bash(fetch(page)), bash(fetch(page)), text("Done."))

    await bench.run(sandbox=True, approver=person)

    assert person.inputs == [wanted(page, fetch(page))]
    assert (answer(bench), answer(bench, 2)) == ("a page", "a page")
    assert not local_settings(bench).exists()


@REACHED
async def test_always_is_written_to_the_local_settings_as_the_one_host_and_port(bench, page):
    person = Person(Scope.ALWAYS)
    bench.model(bash(fetch(page)), bash(fetch(page)), text("Done."))

    await bench.run(sandbox=True, approver=person)

    [(asked, _)] = person.asked
    always = asked.offers[-1]
    assert always.rules == (f"sandbox.network.allowedDomains: 127.0.0.1:{page.port}",)
    assert always.covers == (f"commands in the sandbox reach 127.0.0.1, port {page.port}",)
    assert str(local_settings(bench)) in always.place
    written = json.loads(local_settings(bench).read_text())
    assert written == {"sandbox": {"network": {"allowedDomains": [f"127.0.0.1:{page.port}"]}}}
    assert (answer(bench), answer(bench, 2)) == ("a page", "a page")


@REACHED
async def test_another_port_of_the_same_host_is_asked_about(bench, page, tmp_path):
    person, other = Person(Scope.SESSION), Server(tmp_path)
    bench.model(bash(fetch(page)), bash(fetch(other)), text("Done."))

    try:
        await bench.run(sandbox=True, approver=person)
    finally:
        other.close()

    assert [given["port"] for given in person.inputs] == [page.port, other.port]


@REACHED
async def test_a_no_is_told_to_the_model_with_the_persons_word(bench, page):
    person, command = Person(ruling=Ruling.DENY, reason="the person said no: use the mirror"), fetch(page)
    bench.model(bash(f"{command}; {command}"), text("Then not."))

    await bench.run(sandbox=True, approver=person)

    assert len(person.asked) == 1
    assert f"127.0.0.1:{page.port} was not reached: the person said no: use the mirror" in answer(bench)
    assert page.asked == []


@REACHED
async def test_several_connections_to_one_host_are_one_question(bench, page):
    person = Person(takes_s=0.5)
    command = f"{fetch(page)} & {fetch(page)} & {fetch(page)} & wait"
    bench.model(bash(command), text("Done."))

    await bench.run(sandbox=True, approver=person)

    assert person.inputs == [wanted(page, command)]
    assert answer(bench) == "a page" * 3


@REACHED
@pytest.mark.parametrize(
    ("settings", "options", "why"),
    [
        ({"deniedDomains": ["127.0.0.1"]}, {}, "sandbox.network.deniedDomains names 127.0.0.1"),
        ({"strictAllowlist": True, "allowedDomains": ["example.com"]}, {}, UNNAMED),
        ({}, {"permission_mode": "dontAsk"}, "and nobody is asked"),
        ({}, {"disallowed_tools": ["WebFetch(domain:127.0.0.1)"]}, "the rule WebFetch(domain:127.0.0.1)"),
        (
            {"allowedDomains": ["127.0.0.1"]},
            {"disallowed_tools": ["WebFetch(domain:127.0.0.1)"]},
            "the rule WebFetch(domain:127.0.0.1)",
        ),
    ],
)
async def test_where_the_settings_have_answered_nobody_is_asked(bench, page, settings, options, why):
    person = Person()
    bench.model(bash(fetch(page)), text("Then not."))

    await bench.run(sandbox={"enabled": True, "network": settings}, approver=person, **options)

    assert person.asked == []
    assert f"127.0.0.1:{page.port} was not reached" in answer(bench)
    assert why in answer(bench)
    assert page.asked == []


@REACHED
async def test_in_the_mode_that_allows_everything_the_person_is_asked_all_the_same(bench, page):
    person = Person()
    bench.model(bash(fetch(page)), text("Done."))

    await bench.run(sandbox=True, approver=person, permission_mode="bypassPermissions")

    assert person.inputs == [wanted(page, fetch(page))]


@REACHED
async def test_without_anybody_to_ask_the_host_is_refused_at_once(bench, page):
    bench.model(bash(fetch(page)), text("Then not."))

    await bench.run(sandbox={"enabled": True, "network": {"allowedDomains": ["example.com"]}})

    assert f"127.0.0.1:{page.port} was not reached: {UNNAMED}" in answer(bench)
    assert page.asked == []


@REACHED
async def test_in_the_background_nobody_is_asked(bench, page):
    person = Person()
    bench.model(
        bash(f"{fetch(page)}; echo $? > code", run_in_background=True),
        bash("until [ -s code ]; do sleep 0.02; done; cat code"),
        text("Fine."),
    )

    await bench.run(sandbox=True, approver=person)

    assert answer(bench, 2).startswith("22")
    assert (person.asked, page.asked) == ([], [])


@REACHED
async def test_an_abort_ends_the_question(bench, page):
    person = Absent(bench.folder / "asked")
    bench.model(bash(fetch(page)), text("Never."))
    engine = bench.engine(sandbox=True, approver=person, limits={"abort_grace_s": 0.5})

    def listen(event):
        if event.__struct_config__.tag == "permission_request":
            engine.abort()

    async with asyncio.timeout(30):
        run = await bench.go_on(engine, on_event=listen)

    assert run.reason is Reason.ABORTED_TOOLS
    assert (len(person.asked), person.left) == (1, 1)
    assert page.asked == []


@REACHED
async def test_the_end_of_the_command_ends_the_question(bench, page):
    person = Absent(bench.folder / "asked")
    bench.model(bash(f"{fetch(page)} & until [ -e asked ]; do sleep 0.02; done; echo gone"), text("Fine."))

    async with asyncio.timeout(30):
        await bench.run(sandbox=True, approver=person)

    assert (len(person.asked), person.left) == (1, 1)
    assert answer(bench).startswith("gone")


@REACHED
async def test_the_time_that_a_person_takes_is_not_the_commands(bench, page):
    person = Person(takes_s=2.5)
    bench.model(bash(fetch(page), timeout=2_000), text("Done."))

    await bench.run(sandbox=True, approver=person)

    assert answer(bench) == "a page"


@REACHED
async def test_an_approver_that_fails_is_a_no(bench, page):
    class Broken(Person):
        async def approve(self, call, reason):
            raise KeyError("sk-ant-secret")

    bench.model(bash(fetch(page)), text("Then not."))

    await bench.run(sandbox=True, approver=Broken())

    assert f"127.0.0.1:{page.port} was not reached: {UNNAMED}, and nobody could be asked (KeyError)" in answer(bench)


@REACHED
async def test_where_only_managed_settings_allow_a_yes_holds_once(bench, page):
    person = Person(Scope.ALWAYS)
    bench.model(bash(fetch(page)), bash(fetch(page)), text("Done."))

    await bench.run(sandbox=True, approver=person, written=WrittenSettings(only_managed_rules=True))

    assert [asked.offers for asked, _ in person.asked] == [(), ()]
    assert not local_settings(bench).exists()


@pytest.mark.needs("Landlock")
async def test_landlock_has_no_way_out_and_nobody_is_asked(bench, page):
    person = Person()
    bench.model(bash(f"echo hello > /dev/tcp/127.0.0.1/{page.port}"), text("Then not."))

    await bench.run(sandbox=LANDLOCK, approver=person)

    assert find_means(NOWHERE).kind == "landlock"
    assert "Operation not permitted" in answer(bench)
    assert person.asked == []
    assert page.asked == []


@pytest.mark.needs("bubblewrap")
async def test_the_model_is_told_that_the_person_can_be_asked(bench):
    bench.model(text("Fine."))

    await bench.run(sandbox={"enabled": True, "network": {"allowedDomains": ["example.com"]}}, approver=Person())

    [told] = [tool["description"] for tool in bench.bodies[0]["tools"] if tool["name"] == "Bash"]
    assert (
        "Network: only example.com, hosts that the person agrees to (they are asked while a connection waits)" in told
    )
