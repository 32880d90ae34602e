"""Programs of others that read session files: installed once from their registries, and asked what they see."""

import json
import subprocess
from contextlib import contextmanager

from tests.shelf import find_node_modules, find_python, run

CCUSAGE = "20.0.24"
CLAUDE_CODE_LOG = "1.7.0"
AGENT_SDK = "0.2.182"


def find_ccusage():
    folder = find_node_modules(f"ccusage-{CCUSAGE}", f"ccusage@{CCUSAGE}")
    return folder / "node_modules" / ".bin" / "ccusage"


def find_claude_code_log():
    return find_python(f"claude-code-log-{CLAUDE_CODE_LOG}", f"claude-code-log=={CLAUDE_CODE_LOG}")


def find_agent_sdk():
    """Made from its source: what is built for a platform carries a program with it that is not free."""
    name = "claude-agent-sdk"
    return find_python(f"{name}-{AGENT_SDK}", "--no-binary", name, f"{name}=={AGENT_SDK}")


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
