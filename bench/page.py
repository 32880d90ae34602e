"""The page of the benchmarks: what was measured, how, and what came of it, misses included."""

from typing import Any

from bench.figures import median
from bench.parts_page import render_parts
from bench.summary import Line, judge, net_turns, render_number, render_reach, render_spread

OPENING = """# Benchmarks

<!-- made by `make bench`; `python -m bench.run --docs` writes it again from bench/results -->

How fast Everturn is, compared with a small loop on the vendor's SDK ([floor_sdk.py](../bench/loops/floor_sdk.py)) and a small one on bare
h11 with messages encoded once ([floor_raw.py](../bench/loops/floor_raw.py)). All of them keep a journal, run the same shell and talk to the same scripted
server on loopback.

![Each figure as a share of the SDK loop](benchmarks.svg)
"""

HOW = """## How it is measured

- Each round runs all loops, and starts with a different one each time. A ratio compares two loops of the same round; the table shows the median of all rounds and, in
  brackets, the quartiles. An aim is reached if the upper quartile reaches it.
- The server runs in its own process and sends answers that were encoded before. It records when the last byte of a request arrived and when the last
  byte of its answer left. **Start** is the time from just before the process starts to its complete first request. **Harness time per turn** is the time from the
  end of one answer to the complete next request; it includes the shell, for all loops alike. A shell that is started in the fastest way takes {tool} ms;
  without that time, the ratio at the turns 2 to 10 is {net}.
- **HTTPS** trusts the system's certificates and the server's own, so that as many certificates are loaded as for a user.
- **CPU for deltas** is user and system time of an answer of 20,000 deltas, each written to the socket separately, minus that of a short answer.
- **Memory** is the peak resident size of the process at its end.
- **Many sessions** run in one process and one event loop; imports are not counted. The SDK loop shares one client.
- Everturn does more than the other two in the same time: it asks a permission policy, charges every call, and keeps the shell's folder.
  The commands here only read; before one that may change something it would also write the intent to the disk first.

`make bench` ends with a comparison to the results that were committed last, and names each figure that got worse by more than its spread. It takes less than half an hour on two
cores, `python -m bench.run --quick` a few minutes; `--only shell,files` measures some parts.
`make bench-peers` installs other agents into `bench/.peers` and measures them in a network namespace that holds nothing but loopback.
"""


IN_README = {
    "Everturn": "Everturn",
    "codex, the binary without its Node wrapper": "codex",
    "pi": "pi",
    "pydantic-ai": "pydantic-ai",
    "openai-agents": "openai-agents",
}
README_BEGIN, README_END = "<!-- figures: made by `python -m bench.run --docs` -->\n", "<!-- end of figures -->\n"
README_TAKEN = (
    "Medians of {rounds} rounds, measured on {day} ([results](bench/results/peers.json)); codex without its Node wrapper, "
    "which makes it faster:\n\n"
)
README_HEAD = "| | process start to first request | harness time per turn |\n|---|---|---|\n"


def render_page(kept: dict[str, Any], tools: dict[str, Any], peers: dict[str, Any]) -> str:
    """What was not measured is empty: of the tools it is said, the peers are left out."""
    samples = kept["samples"]
    lines = judge(samples)
    tool = render_number(median(samples["tool"]["raw"]))
    parts = [
        OPENING,
        render_circumstances(kept),
        render_figures(lines),
        render_misses(lines),
        HOW.format(tool=tool, net=render_spread(net_turns(samples))),
        render_parts(tools),
        render_peers(peers) if peers else "",
    ]
    return "\n".join(part for part in parts if part)


def render_circumstances(kept: dict[str, Any]) -> str:
    return (
        f"Taken {kept['taken']}: {kept['rounds']} rounds on {kept['cores']} cores ({kept['system']}, load {kept['load_before']} at the start), "
        f"Python {kept['python']}, Everturn {kept['everturn']} ({kept['program']}), anthropic {kept['anthropic']}.\n"
    )


def render_figures(lines: list[Line]) -> str:
    rows = [
        "| figure | ratio to the SDK loop | aim | | Everturn | SDK loop | bare h11 |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        figure = line.figure
        known = line.values if figure.judged == "ratio" else {"everturn": line.values["everturn"]}
        medians = " | ".join(
            f"{render_number(known[name])} {figure.unit}" if name in known else ""
            for name in ("everturn", "sdk", "raw")
        )
        ratio = "" if figure.judged == "value" else render_spread(line.spread)
        verdict = "reached" if line.reached else "**missed**"
        rows.append(f"| {figure.title} | {ratio} | {render_reach(line)} | {verdict} | {medians} |")
    return "\n".join([*rows, ""])


def render_misses(lines: list[Line]) -> str:
    missed = [
        f"{line.figure.title} ({render_number(line.spread[1])}, {render_reach(line)} wanted)"
        for line in lines
        if not line.reached
    ]
    return f"Missed in this run: {'; '.join(missed)}.\n" if missed else "All figures were reached in this run.\n"


def render_peers(peers: dict[str, Any]) -> str:
    rows = [
        "## Peers",
        "",
        (
            f"Taken {peers['taken']}, {peers['rounds']} interleaved rounds, load {peers['load_before']} at the start. Medians, and in brackets the ratio to the SDK loop in the same round with its quartiles. "
            "Another day and another load than in the tables above: compare figures only within one table."
        ),
        "",
        "| | version | process start to first request | harness time per turn, turns 2 to 10 |",
        "|---|---|---|---|",
    ]
    for name, peer in peers["peers"].items():
        cells = [peer[key] for key in ("start", "turn")] if "start" in peer else [f"not measured: {peer['why']}", ""]
        rows.append(f"| {name} | {peer.get('version', '')} | {cells[0]} | {cells[1]} |")
    return "\n".join([*rows, ""])


def render_readme(text: str, peers: dict[str, Any]) -> str:
    """The README with the medians that it shows of other agents; unchanged where none were measured."""
    if not peers:
        return text
    rows = []
    for name, shown in IN_README.items():
        peer = peers["peers"].get(name, {})
        if "start" not in peer:
            continue
        label = f"**{shown}**" if name == "Everturn" else f"{shown} {peer['version']}"
        rows.append(f"| {label} | {peer['start'].partition(' (')[0]} | {peer['turn'].partition(' (')[0]} |\n")
    taken = README_TAKEN.format(rounds=peers["rounds"], day=peers["taken"].partition(" ")[0])
    before, mark, rest = text.partition(README_BEGIN)
    _, end, after = rest.partition(README_END)
    return f"{before}{mark}{taken}{README_HEAD}{''.join(rows)}{end}{after}"
