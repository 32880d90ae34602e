"""How each case is put on: most of them plainly, some with a history, a listener or a process of their own."""

import asyncio
import json
import signal
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from tests.conftest import Run
from tests.faults.corpus import NAMED_FOLDER, NAMED_HOST, Case
from tests.faults.listeners import Gatekeeper, Passerby
from tests.faults.played import Mode, Played, is_summary
from tests.faults.world import SILENCE_S, World

from everturn import Engine
from everturn.context.compact import INSTRUCTION
from everturn.core.events import Event, InputDelta, RetryScheduled
from everturn.modelserver import ModelServer, Received, Script, call, say, script, thinking, when

QUICK = 0.01
"""Scripted pauses take a hundredth of their time."""
CALM = 0.03
"""Where a pause must stay apart from the idle limit, a busy machine must not blur them."""
NEW_KINDS = frozenset({"fault-block-unknown"})
FROZEN = 1_000.0
"""Scripted pauses outlast the test: what ends them is an abort or a kill."""
OPENING, PROMPT, NEXT = "Remember 41.", "Do it.", "And now?"
LONG_TALK = script("I remember 41." + " It is a fine number." * 200)
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CERTIFICATES = Path(__file__).parent.parent / "models" / "certificates"
CLIENT = Path(__file__).with_name("client.py")

Staging = Callable[[World, Case, Mode], Awaitable[Played]]


class Stage:
    """One case on its server: the turn before, the fault, the turn after; requests are kept apart."""

    def __init__(self, world: World, case: Case, mode: Mode) -> None:
        self.world, self.case, self.mode = world, case, mode
        self.server = ModelServer()
        self.engine: Engine
        self.before: Run

    @property
    def url(self) -> str:
        return self.server.url_of(self.case.id)

    async def open(self, *, time_scale: float = QUICK, **settings: Any) -> None:
        self.server = await self.world.enter(ModelServer(time_scale=time_scale, **settings))

    async def begin(self, opening: Script | None = None, *, url: str = "", **options: Any) -> None:
        """A first turn, so that there is something to lose."""
        if self.case.stalls:
            self.world.env["EVERTURN_STALL_S"] = str(SILENCE_S)
        self.put_on(opening or script("I remember 41."))
        self.engine = await self.world.engine(url or self.url, streaming_tools=self.mode.streaming_tools, **options)
        self.before = await self.world.submit(self.engine, OPENING)
        self.world.forget_runs()

    def put_on(self, played: Script) -> None:
        self.server.play(played, case=self.case.id)

    async def meet(self, prompt: Any = PROMPT, **watching: Any) -> tuple[Run, list[Received]]:
        """The prompt that meets the fault."""
        asked = len(self.server.asked())
        run = await self.world.submit(self.engine, prompt, **watching)
        return run, self.server.asked()[asked:]

    async def go_on(self, run: Run, requests: list[Received], *, attempts: int | None = None, **seen: Any) -> Played:
        """The turn after it, on a server that takes nothing the API would refuse."""
        # An API that gave out a block of a new kind takes it back; the server's rules do not know it.
        self.put_on(script("Fine.", strict=self.case.id not in NEW_KINDS))
        after, after_requests = await self.meet(NEXT)
        if attempts is None:
            attempts = sum(not is_summary(request) for request in requests)
        return Played(
            case=self.case,
            mode=self.mode,
            world=self.world,
            engine=self.engine,
            before=self.before,
            run=run,
            after=after,
            requests=requests,
            after_requests=after_requests,
            attempts=attempts,
            handed=self.server.handed,
            seen=seen,
        )


async def play_plainly(
    world: World,
    case: Case,
    mode: Mode,
    *,
    opening: Script | None = None,
    prompt: Any = PROMPT,
    time_scale: float = QUICK,
    **options: Any,
) -> Played:
    stage = Stage(world, case, mode)
    await stage.open(time_scale=time_scale)
    await stage.begin(opening, **options)
    stage.put_on(case.script())
    return await stage.go_on(*await stage.meet(prompt))


async def play_slowly(world: World, case: Case, mode: Mode) -> Played:
    """The idle limit is shortened just as the pauses are, so that the case stays as near to it as it is."""
    world.env["EVERTURN_STALL_S"] = str(90 * CALM)
    return await play_plainly(world, case, mode, time_scale=CALM)


async def play_with_a_token(world: World, case: Case, mode: Mode) -> Played:
    """A credential that does not look like a key of the API, as gateways have them."""
    world.env["ANTHROPIC_API_KEY"] = "gateway-7f3a90c1e2d84b56"
    return await play_plainly(world, case, mode)


async def play_with_pings(world: World, case: Case, mode: Mode) -> Played:
    """Half of the limit apart."""
    world.env["EVERTURN_STALL_S"] = str(SILENCE_S)
    return await play_plainly(world, case, mode, time_scale=SILENCE_S / 60)


async def play_with_a_fallback(world: World, case: Case, mode: Mode) -> Played:
    return await play_plainly(world, case, mode, fallback_models=["claude-haiku-4-5"])


async def play_with_thoughts(world: World, case: Case, mode: Mode) -> Played:
    return await play_plainly(world, case, mode, opening=script(say(thinking("Hm."), "I remember 41.")))


async def play_with_an_earlier_call(world: World, case: Case, mode: Mode) -> Played:
    opening = script(call("Read", {"file_path": str(world.readme)}, call_id="toolu_1"), "I remember 41.")
    return await play_plainly(world, case, mode, opening=opening)


async def play_after_a_long_talk(world: World, case: Case, mode: Mode) -> Played:
    """There is something to compact."""
    return await play_plainly(world, case, mode, opening=LONG_TALK)


async def play_with_a_summary_that_works(world: World, case: Case, mode: Mode) -> Played:
    """What is refused again is the conversation after compaction, so the call for the summary must get through."""
    stage = Stage(world, case, mode)
    await stage.open()
    await stage.begin(LONG_TALK)
    refused = case.script()
    summary = when("We talked about 41.", last_user_contains=INSTRUCTION)
    stage.put_on(msgspec.structs.replace(refused, when=(summary,)))
    return await stage.go_on(*await stage.meet())


async def play_with_a_picture(world: World, case: Case, mode: Mode) -> Played:
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    prompt = [{"type": "image", "source": source}, {"type": "text", "text": PROMPT}]
    return await play_plainly(world, case, mode, prompt=prompt)


async def play_without_bash(world: World, case: Case, mode: Mode) -> Played:
    return await play_plainly(world, case, mode, allowed_tools=[], disallowed_tools=["Bash"])


async def play_beside_another_host(world: World, case: Case, mode: Mode) -> Played:
    async with Passerby() as other:
        played = await play_plainly(world, case.with_words(NAMED_HOST, other.url), mode)
        played.seen["other_host"] = other.heard
    return played


async def play_behind_a_proxy(world: World, case: Case, mode: Mode) -> Played:
    stage = Stage(world, case, mode)
    await stage.open()
    async with Gatekeeper() as proxy:
        world.env["HTTP_PROXY"] = proxy.url
        await stage.begin()
        proxy.locked, passed = True, len(proxy.seen)
        run, requests = await stage.meet()
        attempts = len(proxy.seen) - passed
        proxy.locked = False
        return await stage.go_on(run, requests, attempts=attempts)


def certificate(name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{name}.pem")
    return context


def play_with_certificate(name: str) -> Staging:
    """The server changes its certificate between the turns; the client would trust its issuer."""

    async def play(world: World, case: Case, mode: Mode) -> Played:
        stage, port = Stage(world, case, mode), free_port()
        trusted = world.home.with_name("trusted.pem")
        trusted.write_bytes(b"".join(path.read_bytes() for path in sorted(CERTIFICATES.glob("*.pem"))))
        async with ModelServer(port=port, tls=certificate("good")) as stage.server:
            await stage.begin(ca_file=str(trusted))
        async with ModelServer(port=port, tls=certificate(name), cases={case.id: case.script()}) as stage.server:
            run, requests = await stage.meet()
        async with ModelServer(port=port, tls=certificate("good")) as stage.server:
            return await stage.go_on(run, requests, attempts=announced_tries(run))

    return play


async def play_on_a_closed_port(world: World, case: Case, mode: Mode) -> Played:
    stage, port = Stage(world, case, mode), free_port()
    async with ModelServer(port=port) as stage.server:
        await stage.begin()
    run, _ = await stage.meet()
    async with ModelServer(port=port) as stage.server:
        return await stage.go_on(run, [], attempts=announced_tries(run), host=f"127.0.0.1:{port}")


async def play_on_a_port_that_opens(world: World, case: Case, mode: Mode) -> Played:
    """Refused by the system itself, then served: the server starts when the first failure is told."""
    stage, port = Stage(world, case, mode), free_port()
    world.env["EVERTURN_RETRY_SCALE"] = "0.5"
    async with ModelServer(port=port) as stage.server:
        await stage.begin()
    stage.server = ModelServer(port=port)
    stage.put_on(script(case.script().answers[-1], strict=False))

    async def open_when_told(event: Event) -> None:
        if isinstance(event, RetryScheduled):
            await world.enter(stage.server)

    run, requests = await stage.meet(on_event=open_when_told)
    return await stage.go_on(run, requests, attempts=announced_tries(run))


async def play_and_interrupt(world: World, case: Case, mode: Mode) -> Played:
    stage = Stage(world, case, mode)
    await stage.open(time_scale=FROZEN)
    await stage.begin()
    stage.put_on(case.script())

    async def interrupt(event: Event) -> None:
        if isinstance(event, InputDelta):
            stage.engine.abort()

    return await stage.go_on(*await stage.meet(on_event=interrupt))


async def play_and_kill(world: World, case: Case, mode: Mode) -> Played:
    """The loop runs in a process of its own, is killed while text streams, and the session is resumed here."""
    stage = Stage(world, case, mode)
    await stage.open(time_scale=FROZEN)
    await stage.begin()
    session_id = stage.engine.session_id
    await stage.engine.aclose()
    stage.put_on(case.script())
    client = await start_client(world, stage.url, resume=session_id, prompt="Before the crash.")
    while (line := await read_line(client)) != "text_delta":
        assert line, "the client ended by itself"
    client.send_signal(signal.SIGKILL)
    await client.communicate()
    torn = world.journal(session_id)
    stage.engine = await world.engine(stage.url, resume=session_id)
    run, requests = await stage.meet()
    return await stage.go_on(run, requests, exit=client.returncode, torn=torn)


async def play_with_two_clients(world: World, case: Case, mode: Mode) -> Played:
    """While this process has the session open, another one wants it, too."""
    stage = Stage(world, case, mode)
    await stage.open()
    await stage.begin()
    stage.put_on(case.script())
    client = await start_client(world, stage.url, resume=stage.engine.session_id, prompt="I am here, too.")
    said, complaints = await client.communicate()
    run, requests = await stage.meet()
    return await stage.go_on(run, requests, second=said.decode(), second_errors=complaints.decode())


async def play_a_bomb(world: World, case: Case, mode: Mode) -> Played:
    """Once here, for the invariants, and once in a process of its own, whose memory is the client's alone."""
    stage = Stage(world, case, mode)
    await stage.open()
    await stage.begin()
    stage.put_on(case.script())
    run, requests = await stage.meet()
    client = await start_client(world, stage.url, prompt=PROMPT)
    said, _ = await client.communicate()
    return await stage.go_on(run, requests, grown=int(said.split()[-1]))


def announced_tries(run: Run) -> int:
    """Where nobody listens, nobody counts: each failed try but the last is told by an event."""
    return len(run.of("api_retry")) + 1


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def start_client(world: World, url: str, *, prompt: str, **options: Any) -> asyncio.subprocess.Process:
    task = {"options": world.options(url, **options), "env": world.env, "prompt": prompt}
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, str(CLIENT), json.dumps(task), stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )


async def read_line(client: asyncio.subprocess.Process) -> str:
    assert client.stdout is not None
    return (await client.stdout.readline()).decode().strip()


STAGINGS: dict[str, Staging] = {
    "fault-http-301": play_beside_another_host,
    "fault-http-400-image": play_with_a_picture,
    "fault-http-400-prompt-long": play_after_a_long_talk,
    "fault-http-400-prompt-long-twice": play_with_a_summary_that_works,
    "fault-http-400-signature": play_with_thoughts,
    "fault-http-400-toolpair": play_with_an_earlier_call,
    "fault-http-gzip-bomb": play_a_bomb,
    "fault-interrupt-mid-tool": play_and_interrupt,
    "fault-kill9-mid-stream": play_and_kill,
    "fault-proxy-407": play_behind_a_proxy,
    "fault-slow-first": play_slowly,
    "fault-stop-model_context_window_exceeded": play_after_a_long_talk,
    "fault-tcp-refused": play_on_a_closed_port,
    "fault-tcp-refused-then-ok": play_on_a_port_that_opens,
    "fault-tls-expired": play_with_certificate("expired"),
    "fault-tls-wrong-host": play_with_certificate("other"),
    "fault-tool-denied-name": play_without_bash,
    "fault-two-clients": play_with_two_clients,
    "own-http-401-echo-token": play_with_a_token,
    "own-http-529-fallback": play_with_a_fallback,
    "own-stall-ping": play_with_pings,
}


async def play(world: World, case: Case, mode: Mode) -> Played:
    case = case.with_words(NAMED_FOLDER, str(world.folder))
    if mode.effects:
        case = case.with_tool("Append")
    return await STAGINGS.get(case.id, play_plainly)(world, case, mode)
