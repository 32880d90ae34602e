"""Stage three: above a budget that the user sets, the oldest finished rounds are no longer sent. No model is called."""

from collections.abc import Collection
from itertools import accumulate

from everturn.context.accounting import costs_of
from everturn.context.rounds import last_prompt, round_starts
from everturn.core.messages import Kind
from everturn.core.refused_media import find_refused
from everturn.core.view import View

STAGE = "snip"
LEFT_SHARE = 0.75
"""Share of the budget that is left after a snip, since each snip makes the API read everything anew."""
NOTE = "[{count} earlier messages of this conversation are no longer sent.]"


def plan_snip(view: View, budget: int, own: Collection[str], *, most: int) -> tuple[int, int] | None:
    """The stretch to leave out, as indices, its end excluded; None where there is none.

    Only what stands before the last prompt, since what came after it is in progress, and among the first `most` messages. A compaction's summary stays; `own` are
    ids of earlier snips, which give way to the new one.
    """
    prompt = last_prompt(view)
    if prompt is None:
        return None
    costs = costs_of(view, find_refused(view))
    first = 1 if view[0].kind is Kind.SUMMARY and view[0].id not in own else 0
    starts = [start for start in round_starts(view) if first <= start <= min(prompt, most)]
    if not starts or starts[0] != first:
        return None
    freed = list(accumulate(costs, initial=0))
    excess = freed[-1] - LEFT_SHARE * budget
    ends = [start for start in starts if start > first]
    enough = (end for end in ends if freed[end] - freed[first] >= excess)
    end = next(enough, ends[-1] if ends else first)
    if end - first < 1 or (end - first == 1 and view[first].id in own):
        return None
    return first, end
