"""Programs of others that read session files: installed once from their registries, and asked what they see."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.needs import leave_out

SHELF = Path(__file__).parents[2] / ".venv" / "readers"
CCUSAGE = "20.0.24"
CLAUDE_CODE_LOG = "1.7.0"
AGENT_SDK = "0.2.182"
PATIENCE_S = 900


def run(*command, cwd, **env):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "EVERTURN_"))}
    ended = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=clean | {name: str(value) for name, value in env.items()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, f"{command} exited with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def find_ccusage():
    folder = SHELF / f"ccusage-{CCUSAGE}"

    def install():
        (folder / "package.json").write_text('{"private":true}')
        run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"ccusage@{CCUSAGE}", cwd=folder)

    _install(folder, install)
    return folder / "node_modules" / ".bin" / "ccusage"


def find_claude_code_log():
    folder = SHELF / f"claude-code-log-{CLAUDE_CODE_LOG}"

    def install():
        run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=SHELF)
        pip = (sys.executable, "-m", "pip", "--quiet", "--python", folder / "bin" / "python")
        run(*pip, "install", f"claude-code-log=={CLAUDE_CODE_LOG}", cwd=SHELF)

    _install(folder, install)
    return folder / "bin" / "python"


def find_agent_sdk():
    """Made from its source: what is built for a platform carries a program with it that is not free."""
    folder = SHELF / f"claude-agent-sdk-{AGENT_SDK}"
    name = "claude-agent-sdk"

    def install():
        run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=SHELF)
        pip = (sys.executable, "-m", "pip", "--quiet", "--python", folder / "bin" / "python")
        run(*pip, "install", "--no-binary", name, f"{name}=={AGENT_SDK}", cwd=SHELF)

    _install(folder, install)
    return folder / "bin" / "python"


def ask_ccusage(program, home):
    """Its totals of all sessions in this home, without asking anybody for prices."""
    told = run(program, "claude", "session", "--json", "--offline", cwd=home, CLAUDE_CONFIG_DIR=home, HOME=home)
    return json.loads(told)


LOOK = """
import json, sys
from pathlib import Path
from claude_code_log import converter
entries = converter.load_transcript(Path(sys.argv[1]))
[session] = converter.compute_session_data(converter.deduplicate_messages(entries)).values()
print(json.dumps({
    "messages": session.message_count,
    "preview": session.first_user_message,
    "tokens": [session.total_input_tokens, session.total_output_tokens,
               session.total_cache_creation_tokens, session.total_cache_read_tokens],
}))
"""


def ask_claude_code_log(python, path):
    """What it says while it reads, and the figures it keeps of the one session in the file."""
    *said, figures = run(python, "-c", LOOK, path, cwd=path.parent).splitlines()
    return [line for line in said if not line.startswith("Processing ")], json.loads(figures)


PARSE = """
import dataclasses, json, sys
from claude_agent_sdk._internal.message_parser import parse_message
for line in sys.stdin:
    told = json.loads(line)
    message = parse_message(told)
    seen = {} if message is None else dataclasses.asdict(message)
    seen.pop("data", None)
    print(json.dumps([told["type"], type(message).__name__, seen]), flush=True)
"""


@contextmanager
def started_agent_sdk(python):
    """Gives a function: of each line of stream-json its type, the class of message it is read as, and that message.

    One process for all: it takes seconds to start.
    """
    with subprocess.Popen(
        [python, "-c", PARSE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:

        def parse(written):
            told = []
            for line in written.splitlines():
                process.stdin.write(f"{line}\n")
                process.stdin.flush()
                told.append(json.loads(process.stdout.readline()))
            return told

        yield parse
        process.stdin.close()


LIST = """
import json
import claude_agent_sdk as sdk
for session in sdk.list_sessions():
    messages = sdk.get_session_messages(session.session_id)
    print(json.dumps([session.session_id, session.cwd, session.first_prompt, [message.uuid for message in messages]]))
"""


def list_with_agent_sdk(python, home):
    told = run(python, "-c", LIST, cwd=home, CLAUDE_CONFIG_DIR=home, HOME=home)
    return [json.loads(line) for line in told.splitlines()]


def render_markdown(python, path, target):
    program = python.with_name("claude-code-log")
    run(program, path, "--format", "md", "-o", target, "--no-cache", cwd=path.parent)
    return target.read_text("utf-8")


def _install(folder, install):
    """Once for all workers; an installation that broke off is done again."""
    SHELF.mkdir(parents=True, exist_ok=True)
    with (SHELF / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = folder / ".ready"
        if ready.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            install()
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            leave_out("package registry", f"it could not be installed: {error}")
        ready.touch()
