"""Everturn: an agentic coding loop to embed, to use and to run by the thousand."""

TYPE_CHECKING = False
"""As type checkers know it; importing typing would cost a program that only says its version more than all the rest."""

if TYPE_CHECKING:
    from typing import Any

    from everturn.compose.engine import Engine as Engine
    from everturn.compose.engine import assemble as assemble
    from everturn.compose.engine import query as query
    from everturn.compose.engine import run as run
    from everturn.compose.engine import run_sync as run_sync
    from everturn.compose.world import World as World
    from everturn.core.denials import Denial as Denial
    from everturn.core.denials import DenialCause as DenialCause
    from everturn.core.errors import ApproverError as ApproverError
    from everturn.core.errors import BusyError as BusyError
    from everturn.core.errors import ClosedError as ClosedError
    from everturn.core.errors import EverturnError as EverturnError
    from everturn.core.errors import InputFault as InputFault
    from everturn.core.errors import JournalError as JournalError
    from everturn.core.errors import OptionError as OptionError
    from everturn.core.errors import ToolFault as ToolFault
    from everturn.core.events import AnswerAdded as AnswerAdded
    from everturn.core.events import Attached as Attached
    from everturn.core.events import BlockBegan as BlockBegan
    from everturn.core.events import BlockFinished as BlockFinished
    from everturn.core.events import CacheMissed as CacheMissed
    from everturn.core.events import CallBegan as CallBegan
    from everturn.core.events import CallDenied as CallDenied
    from everturn.core.events import CallEnded as CallEnded
    from everturn.core.events import CallProgressed as CallProgressed
    from everturn.core.events import CommandNoted as CommandNoted
    from everturn.core.events import CompactionBegan as CompactionBegan
    from everturn.core.events import CompactionEnded as CompactionEnded
    from everturn.core.events import ContextChanged as ContextChanged
    from everturn.core.events import Continued as Continued
    from everturn.core.events import ErrorReleased as ErrorReleased
    from everturn.core.events import Event as Event
    from everturn.core.events import HookRan as HookRan
    from everturn.core.events import InputDelta as InputDelta
    from everturn.core.events import MessageBegan as MessageBegan
    from everturn.core.events import ModelSwitched as ModelSwitched
    from everturn.core.events import ModelUsage as ModelUsage
    from everturn.core.events import ModeSwitched as ModeSwitched
    from everturn.core.events import NotesChanged as NotesChanged
    from everturn.core.events import Noticed as Noticed
    from everturn.core.events import PermissionAsked as PermissionAsked
    from everturn.core.events import PromptSuggested as PromptSuggested
    from everturn.core.events import RequestStarted as RequestStarted
    from everturn.core.events import ResultEvent as ResultEvent
    from everturn.core.events import Retracted as Retracted
    from everturn.core.events import RetryScheduled as RetryScheduled
    from everturn.core.events import StopPhaseProgressed as StopPhaseProgressed
    from everturn.core.events import TaskBegan as TaskBegan
    from everturn.core.events import TaskEnded as TaskEnded
    from everturn.core.events import Terminated as Terminated
    from everturn.core.events import TextDelta as TextDelta
    from everturn.core.events import ThinkingDelta as ThinkingDelta
    from everturn.core.events import ToolsSummarised as ToolsSummarised
    from everturn.core.events import UsageReported as UsageReported
    from everturn.core.events import UserAdded as UserAdded
    from everturn.core.events import VerificationBegan as VerificationBegan
    from everturn.core.events import VerificationEnded as VerificationEnded
    from everturn.core.events import WorkCompleted as WorkCompleted
    from everturn.core.state import AbortCause as AbortCause
    from everturn.core.state import Reason as Reason
    from everturn.ports.hooks import CompactInput as CompactInput
    from everturn.ports.hooks import CompactVerdict as CompactVerdict
    from everturn.ports.hooks import FailureInput as FailureInput
    from everturn.ports.hooks import HookInput as HookInput
    from everturn.ports.hooks import HookRuling as HookRuling
    from everturn.ports.hooks import HookVerdict as HookVerdict
    from everturn.ports.hooks import PostToolVerdict as PostToolVerdict
    from everturn.ports.hooks import StopInput as StopInput
    from everturn.ports.hooks import StopVerdict as StopVerdict
    from everturn.ports.ledger import Allowance as Allowance
    from everturn.ports.policy import Call as Call
    from everturn.ports.policy import Offer as Offer
    from everturn.ports.policy import Ruling as Ruling
    from everturn.ports.policy import Scope as Scope
    from everturn.ports.policy import Verdict as Verdict
    from everturn.ports.tool import Access as Access
    from everturn.ports.tool import NewContext as NewContext
    from everturn.ports.tool import ToolContext as ToolContext
    from everturn.ports.tool import ToolResult as ToolResult
    from everturn.ports.tool import Traits as Traits
    from everturn.settings.options import Options as Options
    from everturn.tools.definition.decorator import tool as tool

__version__ = "0.1.0"

_NAMES = {
    "compose.engine": ("Engine", "query", "run", "run_sync"),
    "compose.world": ("World",),
    "core.denials": ("Denial", "DenialCause"),
    "core.errors": (
        "ApproverError",
        "BusyError",
        "ClosedError",
        "EverturnError",
        "InputFault",
        "JournalError",
        "OptionError",
        "ToolFault",
    ),
    "core.events": (
        "AnswerAdded",
        "Attached",
        "BlockBegan",
        "BlockFinished",
        "CacheMissed",
        "CallBegan",
        "CallDenied",
        "CallEnded",
        "CallProgressed",
        "CommandNoted",
        "CompactionBegan",
        "CompactionEnded",
        "ContextChanged",
        "Continued",
        "ErrorReleased",
        "Event",
        "HookRan",
        "InputDelta",
        "MessageBegan",
        "ModeSwitched",
        "ModelSwitched",
        "ModelUsage",
        "NotesChanged",
        "Noticed",
        "PermissionAsked",
        "PromptSuggested",
        "RequestStarted",
        "ResultEvent",
        "Retracted",
        "RetryScheduled",
        "StopPhaseProgressed",
        "TaskBegan",
        "TaskEnded",
        "Terminated",
        "TextDelta",
        "ThinkingDelta",
        "ToolsSummarised",
        "UsageReported",
        "UserAdded",
        "VerificationBegan",
        "VerificationEnded",
        "WorkCompleted",
    ),
    "core.state": ("AbortCause", "Reason"),
    "ports.hooks": (
        "CompactInput",
        "CompactVerdict",
        "FailureInput",
        "HookInput",
        "HookRuling",
        "HookVerdict",
        "PostToolVerdict",
        "StopInput",
        "StopVerdict",
    ),
    "ports.ledger": ("Allowance",),
    "ports.policy": ("Call", "Offer", "Ruling", "Scope", "Verdict"),
    "ports.tool": ("Access", "NewContext", "ToolContext", "ToolResult", "Traits"),
    "settings.options": ("Options",),
    "tools.definition.decorator": ("tool",),
}
_PLACES = {name: place for place, names in _NAMES.items() for name in names}
__all__ = ["__version__", *sorted(_PLACES)]  # noqa: PLE0604 (a test compares it with what type checkers see)
_PLACES["assemble"] = "compose.engine"
"""No name for users: `Engine(…)` gets its parts by it, from a room that its own may not import."""


def __getattr__(name: str) -> "Any":
    """Imported when first used: a program that only asks for the version pays for nothing else."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
