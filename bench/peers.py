"""`make bench-peers`: other agents on the same stage, installed from the registries into bench/.peers.

Installing needs a network. Measuring has none: it happens in a network namespace that holds nothing but loopback. A peer
that cannot be installed or does not play along is named with the reason.
"""

import argparse
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from bench.aims import FULL
from bench.figures import EARLY, LOOPS, PROMPT, in_turn, median, own_program, quartiles
from bench.keeping import OTHERS, write_docs
from bench.stage import ROOT, Needs, Run, Stage, StageError
from bench.summary import divide, render_number

PEERS = ROOT / "bench" / ".peers"
FEW = 3
YARDSTICK = "SDK loop"
INSTALL_S = 900
SET_FLAGS, UP = 0x8914, 0x41
"""To switch a network interface on: the ioctl, and the flags up and running."""
CODEX = """
model = "gpt-5"
model_provider = "bench"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.bench]
name = "bench"
base_url = "{url}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
BINARY = "node_modules/@openai/codex-*/vendor/*/bin/codex"
PI = '{"providers": {"anthropic": {"baseUrl": "{url}"}}}'


class Peer(NamedTuple):
    """`package` with its registry's program is installed; `command` takes a prompt."""

    name: str
    command: list[str]
    script: str = "shell"
    package: str = ""
    registry: str = ""
    needs: Needs = Needs()


def peers() -> tuple[Peer, ...]:
    def python(name: str) -> str:
        return str(PEERS / name / "bin" / "python")

    programs = PEERS / "node_modules" / ".bin"
    return (
        Peer(YARDSTICK, [sys.executable, str(LOOPS / "floor_sdk.py")]),
        Peer("Everturn", own_program()),
        Peer(
            "pydantic-ai",
            [python("pydantic-ai"), str(LOOPS / "peer_pydantic_ai.py")],
            package="pydantic-ai-slim[anthropic]",
            registry="pip",
        ),
        Peer(
            "openai-agents",
            [python("openai-agents"), str(LOOPS / "peer_openai_agents.py")],
            package="openai-agents",
            registry="pip",
            needs=Needs(
                {"OPENAI_BASE_URL": "{url}", "OPENAI_API_KEY": "made-up", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
            ),
        ),
        codex("codex", str(programs / "codex")),
        codex("codex, the binary without its Node wrapper", next(iter(map(str, PEERS.glob(BINARY))), "codex")),
        Peer(
            "pi",
            [str(programs / "pi"), "--provider", "anthropic", "--model", "claude-sonnet-4-5", "-p"],
            script="pi",
            package="@mariozechner/pi-coding-agent",
            registry="npm",
            needs=Needs({"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}, {".pi/agent/models.json": PI}),
        ),
    )


def codex(name: str, program: str) -> Peer:
    return Peer(
        name,
        [program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
        script="codex",
        package="@openai/codex",
        registry="npm",
        needs=Needs({"OPENAI_API_KEY": "made-up"}, {".codex/config.toml": CODEX}),
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=FULL.rounds, help=f"so many rounds; with fewer than {FEW} the docs stay"
    )
    parser.add_argument("--alone", metavar="REASONS", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone is not None:
        try:
            return measure(json.loads(arguments.alone), arguments.rounds)
        except StageError as error:
            print(f"The benchmark broke off: {error}", file=sys.stderr)
            return 1
    reasons = {peer.name: reason for peer in peers() if (reason := install(peer))}
    try:
        command = ["unshare", "--net", "--map-root-user", sys.executable, "-m", "bench.peers", "--alone"]
        return subprocess.run(
            [*command, json.dumps(reasons), "--rounds", str(arguments.rounds)], cwd=ROOT, check=False
        ).returncode
    except FileNotFoundError:
        print("Peers are measured without a network only; that needs `unshare` (Linux, util-linux).", file=sys.stderr)
        return 1


def install(peer: Peer) -> str | None:
    """What went wrong, if something did."""
    match peer.registry:
        case "pip":
            place = PEERS / peer.name
            commands = [
                [sys.executable, "-m", "venv", str(place)],
                [str(place / "bin" / "pip"), "install", "--quiet", peer.package],
            ]
        case "npm":
            commands = [["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(PEERS), peer.package]]
        case _:
            return None
    if Path(peer.command[0]).exists():
        return None
    PEERS.mkdir(exist_ok=True)
    try:
        for command in commands:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except FileNotFoundError as error:
        return f"{error.filename} is not there"
    except subprocess.TimeoutExpired:
        return f"{peer.package} was not installed within {INSTALL_S} s"
    except subprocess.CalledProcessError as error:
        # Half an environment would pass for a whole one the next time.
        shutil.rmtree(PEERS / peer.name, ignore_errors=True)
        return f"{peer.package} could not be installed: {last_line(error.stderr)}"
    return None


def measure(reasons: dict[str, str], rounds: int) -> int:
    switch_loopback_on()
    load = os.getloadavg()[0]
    runs: dict[str, list[Run]] = {}
    with Stage() as stage:
        for number in range(rounds):
            for peer in in_turn(tuple(peer for peer in peers() if peer.name not in reasons), number):
                try:
                    run = stage.run([*peer.command, PROMPT], peer.script, needs=peer.needs)
                    check_played(run)
                    runs.setdefault(peer.name, []).append(run)
                except StageError as error:
                    reasons[peer.name] = last_line(str(error))
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    if YARDSTICK in reasons:
        print(f"The SDK loop, by which all are measured, failed: {reasons[YARDSTICK]}", file=sys.stderr)
        return 1
    found = describe(runs, reasons, rounds, load)
    print(render_table(found))
    if rounds >= FEW:
        OTHERS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        write_docs()
    return 0


def check_played(run: Run) -> None:
    if len(run.turns_s) < EARLY.stop:
        raise StageError(f"it asked {len(run.turns_s) + 1} times only and said: {run.output[-300:]}")


def switch_loopback_on() -> None:
    """A fresh network namespace has nothing but loopback, switched off."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))


def describe(runs: dict[str, list[Run]], reasons: dict[str, str], rounds: int, load: float) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for peer in peers():
        if peer.name in reasons:
            shown[peer.name] = {"why": reasons[peer.name]}
            continue
        columns = {
            "start": [[run.first_request_s * 1e3 for run in runs[name]] for name in (peer.name, YARDSTICK)],
            "turn": [[median(run.turns_s[EARLY]) * 1e3 for run in runs[name]] for name in (peer.name, YARDSTICK)],
        }
        shown[peer.name] = {"version": version_of(peer)}
        for key, (own, yardstick) in columns.items():
            low, middle, high = (f"{ratio:.2f}" for ratio in quartiles(divide(own, yardstick)))
            shown[peer.name][key] = f"{render_number(median(own))} ms ({middle} of the SDK loop, {low} to {high})"
            shown[peer.name][f"{key}_ms"] = [round(value, 2) for value in own]
    taken = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"taken": taken, "rounds": rounds, "load_before": round(load, 1), "peers": shown}


def version_of(peer: Peer) -> str:
    match peer.registry:
        case "pip":
            name = peer.package.partition("[")[0]
            asked = f"from importlib.metadata import version; print(version({name!r}))"
            return subprocess.run(
                [peer.command[0], "-c", asked], check=True, capture_output=True, text=True
            ).stdout.strip()
        case "npm":
            manifest = PEERS / "node_modules" / peer.package / "package.json"
            return str(json.loads(manifest.read_text())["version"])
        case _:
            return version("anthropic" if peer.name == YARDSTICK else "everturn")


def render_table(found: dict[str, Any]) -> str:
    rows = []
    for name, peer in found["peers"].items():
        cells = (peer["start"], peer["turn"]) if "start" in peer else (f"not measured: {peer['why']}", "")
        rows.append(f"{name:42}  {cells[0]:44}  {cells[1]}".rstrip())
    return "\n".join([f"{'':42}  {'start to first request':44}  harness time per turn, turns 2 to 10", *rows])


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1][:300]


if __name__ == "__main__":
    sys.exit(main())
