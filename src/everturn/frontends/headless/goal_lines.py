"""A goal in lines for people: what came of it, and which of the files that its command reads were changed."""

from collections.abc import Iterator

from everturn.core.events import GoalFile, ResultEvent, VerificationEnded
from everturn.frontends.figures import render_count, render_duration

MAX_FILES = 8
OUTCOMES = {"met": "The goal is met", "not_met": "The goal is not met", "not_verified": "The goal was not verified"}


def render_goal(event: ResultEvent) -> Iterator[str]:
    """Nothing without a goal."""
    if not event.goal:
        return
    count = f" ({render_count(event.goal_attempts, 'verification')})" if event.goal_attempts else ""
    yield f"{OUTCOMES[event.goal]}{count}."
    yield from render_files(event.goal_files)


def render_files(files: tuple[GoalFile, ...]) -> Iterator[str]:
    """A weakened test is shown, not hidden."""
    if not files:
        return
    yield "Look at these: the goal's command reads or names them, and they are not what they were at the start:"
    yield from (f"  {file.change}: {file.path} ({file.found})" for file in files[:MAX_FILES])
    if len(files) > MAX_FILES:
        yield f"  and {len(files) - MAX_FILES:,} more; all are in the result of --output-format json"


def render_verification(event: VerificationEnded) -> str:
    """One line."""
    mark, how = ("✓", "the goal is met") if event.passed else ("✗", f"the goal is not met: the command {event.ended}")
    return f"{mark} {how} (verification {event.attempt}, {render_duration(event.duration_s)})"
