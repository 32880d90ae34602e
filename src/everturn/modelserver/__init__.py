"""A scripted Messages API server over real HTTP: demo model, test double and fault injector."""

from everturn.modelserver.answers import Answer, Fail, Say
from everturn.modelserver.ask import Ask
from everturn.modelserver.log import Received
from everturn.modelserver.models import ANY_MODEL, KNOWN_MODELS, Model, Models
from everturn.modelserver.rules import check_request
from everturn.modelserver.rules.rule import Violation
from everturn.modelserver.script_files import ScriptError, load_cases, parse_cases
from everturn.modelserver.scripts import Script, script, when
from everturn.modelserver.sentences import (
    block,
    broken,
    call,
    calls,
    closed,
    cut,
    error,
    garbage,
    hold,
    overloaded,
    pause,
    rate_limited,
    redacted,
    refusal,
    reset,
    say,
    server_call,
    spend_limit,
    stall,
    text,
    thinking,
    too_long,
    truncated,
)
from everturn.modelserver.server import ModelServer
from everturn.modelserver.wire import Wire

__all__ = [
    "ANY_MODEL",
    "KNOWN_MODELS",
    "Answer",
    "Ask",
    "Fail",
    "Model",
    "ModelServer",
    "Models",
    "Received",
    "Say",
    "Script",
    "ScriptError",
    "Violation",
    "Wire",
    "block",
    "broken",
    "call",
    "calls",
    "check_request",
    "closed",
    "cut",
    "error",
    "garbage",
    "hold",
    "load_cases",
    "overloaded",
    "parse_cases",
    "pause",
    "rate_limited",
    "redacted",
    "refusal",
    "reset",
    "say",
    "script",
    "server_call",
    "spend_limit",
    "stall",
    "text",
    "thinking",
    "too_long",
    "truncated",
    "when",
]
