"""The manual's page on the loop: its words stand here, its tables and figures come from the walk."""

from collections.abc import Iterable, Mapping

from everturn.core.state import ENDINGS, Guards, Reason, Transition
from everturn.testing.explore import Exploration
from everturn.testing.loop_diagram import render_diagram
from everturn.testing.policy_table import learn_effects, learn_rules, observe_edges

PAGE = """\
# The loop

<!-- Written by `python -m everturn.testing.explore --write`; a test fails when this page is stale. -->

One prompt makes one *query*. A query acts, looks at what came back, and lets one function decide what follows:

```
decide(guards, outcome, limits) -> Do(action) | Continue(transition, guards) | Terminal(reason)
```

- An **action** is something the loop does: call the model, run tools, commit staged collapses, compact, run the stop phase.
- An **outcome** is what came of it. Every fact that matters is in it; `decide` asks nobody and waits for nothing.
- `Do` stays in the iteration. `Continue` starts the next one and says why: its **transition**. `Terminal` ends the query and says why: its **reason**. Both names are in the events and in the journal.
- **Guards** are what the policy remembers between two decisions: counters and flags, nothing else. They are never changed in place.

![The loop: five actions, seven ways to go on, and where it can end](loop.svg)

Read the diagram from the top. The model is called. If it asks for tools, they run and their results go back to it: this is the one circle that may turn as long as the work lasts. If it simply answers, the stop phase runs, and hooks or a work budget may send the model on. Everything else is recovery: a cut answer is made again with more room or resumed, a context that is too long is collapsed or compacted, and each of these has a counter or a flag that runs out.

## Why it cannot spiral

The policy is walked exhaustively: from the start, every outcome that can come is played to the real `decide`, in every state that can be reached. The walk shows that

- the only way round without an end is `next_turn` after tools ran. A pause counts, and runs out;
- between two such rounds there are at most **K** model calls;
- with a limit of turns there is no way round at all, and the calls of a whole query are bounded;
- every transition and every reason that the limits leave open is reached, and no other;
- no action is done twice in one iteration, and nothing goes on without a cause in what just happened.

Removing any one guard makes the walk fail; the tests do that, guard by guard.

{figures}

K is the worst that a model, an API and hooks could do together if all of them failed in the most wasteful order. It grows with a work budget: each continuation forgets the resumes, the raised cap and the pauses of the answer before, and at least every other continuation must bring the least gain.

To walk your own limits:

```python
from everturn.core.limits import Limits
from everturn.testing.explore import explore

found = explore(Limits(max_turns=5, stop_hook_blocks=2))
print(found.k, found.total, found.faults)
```

## Ways to go on

What each transition does to the guards:

{effects}

A stop hook's veto does not reset `reactive_compact_tried`. If it did, a query could be refused, compacted, refused again, vetoed and compacted for ever.

## What follows what

For each outcome the first line whose conditions hold decides. Numbers are the defaults.

{rules}

## Ways to stop

How each reason shows in the result:

{endings}

Two rows have a nuance. `completed` with a released error (the output never finished) is an error. `model_error` is shown as `api_error` when it was the API that failed. A query ended by SIGTERM exits with 143.
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
