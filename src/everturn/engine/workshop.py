"""The workshop of a query: everything that its iterations share, built when the query begins."""

from collections.abc import Callable

import msgspec

from everturn.core.events import Denial
from everturn.core.messages import Message
from everturn.engine.asking import Asker
from everturn.engine.attachments import Attachments
from everturn.engine.commands import CommandQueue
from everturn.engine.context_watch import ContextWatch
from everturn.engine.crew import Crew
from everturn.engine.deps import AgentContext, Config, Deps
from everturn.engine.executor import Executor
from everturn.engine.gate import Gate
from everturn.engine.recorder import Recorder
from everturn.engine.requests import Requests
from everturn.engine.stop_phase import StopPhase
from everturn.engine.summaries import Summaries
from everturn.ports.abort import AbortSignal
from everturn.ports.files import FileStates
from everturn.ports.tasks import Tasks


class Workshop(msgspec.Struct, frozen=True, kw_only=True):
    """What all iterations of a query share."""

    deps: Deps
    config: Config
    query_id: str
    requests: Requests
    recorder: Recorder
    signal: AbortSignal
    attachments: Attachments
    contexts: ContextWatch
    stop_phase: StopPhase
    summaries: Summaries
    files: FileStates
    make_executor: Callable[[AgentContext], Executor]
    crew: Crew
    """What ends with the query."""
    background: Crew
    """What ends with the engine."""


def build_workshop(
    *,
    deps: Deps,
    config: Config,
    query_id: str,
    requests: Requests,
    recorder: Recorder,
    signal: AbortSignal,
    queue: CommandQueue,
    files: FileStates,
    tasks: Tasks,
    denials: list[Denial],
    background: Crew,
    keep_snapshot: Callable[[tuple[Message, ...], AgentContext], None],
    turn: Callable[[], int],
    contexts: ContextWatch,
) -> Workshop:
    gate, crew = Gate(deps, recorder, denials), Crew()

    def make_executor(agent: AgentContext) -> Executor:
        asker = Asker(deps=deps, limits=config.limits, requests=requests, recorder=recorder, agent=agent, turn=turn())
        return Executor(
            deps=deps,
            config=config,
            recorder=recorder,
            gate=gate,
            signal=signal,
            files=files,
            tools=agent.tools,
            crew=crew,
            eager=config.streaming_tools,
            window=requests.card(agent).window,
            tasks=tasks,
            ask=asker,
            deferred=tuple(tool.name for tool in agent.deferred),
        )

    return Workshop(
        deps=deps,
        config=config,
        query_id=query_id,
        requests=requests,
        recorder=recorder,
        signal=signal,
        attachments=Attachments(deps=deps, recorder=recorder, queue=queue, files=files, tasks=tasks),
        contexts=contexts,
        stop_phase=StopPhase(deps=deps, config=config, recorder=recorder, keep_snapshot=keep_snapshot),
        summaries=Summaries(recorder=recorder, ids=deps.ids, model=config.small_model, crew=crew),
        files=files,
        make_executor=make_executor,
        crew=crew,
        background=background,
    )
