"""Every event of the table fires, in one session with a real script at each of them, and tells the fields that the table names."""

from tests.mcp.plain import PlainServer
from tests.scenarios.hooked import Person, command, on

from everturn.core.state import Reason
from everturn.modelserver import call, error, text
from everturn.ports.hook_events import COMMON_FIELDS, HOOK_EVENTS

EVENTS = {name: event for name, event in HOOK_EVENTS.items() if not event.not_yet}
OPTIONAL = {"effort", "prompt_id", "permission_suggestions", "title"}


async def test_each_event_of_the_table_is_told_to_a_script_with_its_fields(bench, hooked):
    hooks = {name: [on(".env" if name == "FileChanged" else None, command(hooked.noting(name)))] for name in EVENTS}
    hooked.user(**hooks)
    (bench.folder / "AGENTS.md").write_text("Use tabs.", "utf-8")
    (bench.folder / "sub").mkdir()
    bench.model(
        call("Bash", {"command": "cd sub && echo A=1 > ../.env"}),
        call("Bash", {"command": "exit 3"}),
        call("mcp__form__echo", {"text": "x"}),
        call("mcp__page__echo", {"text": "x"}),
        text("Earlier. " * 200),
        bench.summary(),
        error(400, message="Not today."),
    )
    asks = {
        "form": {"message": "Which?", "elicitationId": "e1", "requestedSchema": {"type": "object", "properties": {}}},
        "page": {"message": "Log in.", "elicitationId": "e2", "mode": "url", "url": "https://login.example/"},
    }
    folder = bench.home.parent / "servers"
    servers = {name: PlainServer(folder / f"{name}.json", asks=asked).definition for name, asked in asks.items()}
    engine = hooked.engine(approver=Person(), trust=True, mcp_servers=servers)

    await bench.go_on(engine, "Work.")
    [_ async for _ in engine.compact()]
    hooked.user({"cleanupPeriodDays": 9}, **hooks)
    failed = await bench.go_on(engine, "Go on.")
    await engine.aclose()

    assert failed.reason is Reason.MODEL_ERROR
    told = {name: hooked.told(name) for name in EVENTS}
    assert [name for name, said in told.items() if not said] == []
    assert {fields["hook_event_name"] for said in told.values() for fields in said} == set(EVENTS)
    for name, event in EVENTS.items():
        known = {field for fields in told[name] for field in fields}
        assert {*COMMON_FIELDS, *event.fields} - OPTIONAL - known == set(), name
    assert [fields["source"] for fields in told["SessionStart"]] == ["startup", "compact"]
