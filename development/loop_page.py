"""The manual's page on the loop: its text is here, its tables and figures come from the exhaustive test of `decide`."""

from collections.abc import Iterable, Mapping

from development.loop_diagram import render_diagram
from development.policy_table import learn_effects, learn_rules, observe_edges
from everturn.core.state import ENDINGS, Guards, Reason, Transition
from everturn.testing.explore import Exploration

PAGE = """\
# The loop

<!-- Written by `make pages`; a test fails when this page is stale. -->

One prompt starts one *query*. The query performs an action, gets an outcome, and lets one function decide what to do next:

<!-- not run: a formula -->
```text
decide(guards, outcome, limits) -> Do(action) | Continue(transition, guards) | Terminal(reason)
```

- An **action** is something that the loop does: call the model, run tools, apply waiting collapses, compact, run the stop phase.
- An **outcome** is the result of an action. It contains every fact that matters; `decide` reads nothing else and never waits.
- `Do` stays in the turn. `Continue` begins the next turn, or the same one again, and says why: its **transition**. `Terminal` ends the query and says why: its **reason**. Both names are in the events and in the journal.
- **Guards** are the memory of `decide` between two decisions: counters and flags, nothing else. They are never changed in place.

![The loop: five actions, eight ways to go on, and where it can end](loop.svg)

Read the diagram from the top. The model is called. If it asks for tools, they run, and it gets their results: only this circle may continue as long as the work lasts. If it answers without tools, the stop phase runs, and hooks or a work budget may send the model back to work. Everything else is recovery: an answer that was cut off is requested again with more room, or continued; a context that is too long is collapsed or compacted. Each recovery has a counter or a flag that limits it.

## Why it always ends

A test visits every state: from the start, it gives every possible outcome to the real `decide`, in every state that can be reached. It shows that

- the only cycle without a limit of its own is `next_turn` after tools ran. Pauses are counted and limited;
- between two such rounds, there are at most **K** model calls;
- with a limit for turns, there is no cycle at all, and the number of calls in a query is limited;
- every transition and every reason that the limits allow is reached, and no other;
- no action is performed twice between two transitions, and the loop never continues without a cause in the last outcome.

If any one guard is removed, this test fails; another test removes them one by one.

{figures}

K is the worst case: the model, the API and the hooks all fail in the most wasteful order. It grows with a work budget, because each continuation resets the resumes, the raised cap and the pauses of the previous answer, and at least every second continuation must make the smallest accepted progress.

To test your own limits:

```python
from everturn.core.limits import Limits
from everturn.testing.explore import explore

found = explore(Limits(max_turns=5, stop_hook_blocks=2))
print(found.k, found.total, found.faults)
```

## Ways to go on

What each transition does to the guards:

{effects}

When a stop hook sends the model back, `reactive_compact_tried` is not reset. Otherwise a query could be refused, compacted, refused again, sent back and compacted for ever.

## What follows what

For each outcome, the first line whose conditions are true decides. Numbers are the defaults.

{rules}

## Ways to stop

How each reason appears in the result:

{endings}

Three exceptions: `completed` is an error if the output was cut off to the end. `model_error` appears as `api_error` if the API failed. A query that SIGTERM ends has exit code 143.
"""


def render_docs(found: Mapping[str, Exploration]) -> dict[str, str]:
    """Each file of the manual that comes from the walk."""
    edges = list(observe_edges())
    page = PAGE.format(
        figures=render_figures(found),
        effects=render_effects(learn_effects(edges)),
        rules=render_table(
            ("outcome", "when", "then"),
            ((f"`{rule.outcome}`", rule.when, render_then(rule.then)) for rule in learn_rules(edges)),
        ),
        endings=render_endings(),
    )
    return {"loop.md": page, "loop.svg": render_diagram(edge for edge, _ in edges)}


def render_figures(found: Mapping[str, Exploration]) -> str:
    return render_table(
        ("limits", "states", "decisions", "K", "calls of a query", "longest path"),
        (
            (
                name,
                f"{walk.states:,}",
                f"{walk.edges:,}",
                f"{walk.k:,}" if walk.k else "no bound",
                f"{walk.total:,}" if walk.total else "as long as tools run",
                f"{len(walk.longest):,} steps",
            )
            for name, walk in found.items()
        ),
    )


def render_effects(effects: Mapping[Transition, Mapping[str, str]]) -> str:
    fields = [field for field in Guards.__struct_fields__ if field != "transition"]
    rows = ((f"`{transition}`", *(changed[field] for field in fields)) for transition, changed in effects.items())
    return render_table(("", *(f"`{field}`" for field in fields)), rows)


def render_endings() -> str:
    rows = (
        (
            f"`{reason}`",
            f"`{ENDINGS[reason].public}`",
            f"`{ENDINGS[reason].subtype}`",
            "yes" if ENDINGS[reason].is_error else "no",
            str(int(ENDINGS[reason].exit)),
            "start" if ENDINGS[reason].stop_failure else "",
        )
        for reason in Reason
    )
    return render_table(("reason", "`terminal_reason`", "subtype", "error", "exit", "StopFailure hooks"), rows)


def render_then(then: str) -> str:
    """Names of the contract are set as code."""
    verb, _, name = then.partition(" ")
    return (
        f"{verb} `{name}`"
        if verb == "do"
        else " ".join(f"`{word}`" if "_" in word or word == "completed" else word for word in then.split())
    )


def render_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
