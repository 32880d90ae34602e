"""What has happened before the commands of a page are typed: files, sessions, and what the scripted model answers."""

import asyncio
import json

from everturn import Engine
from everturn.modelserver import calls, text, when

RULES = """\
{
  "hooks": {
    "SessionStart": [
      {
        "hooks": [
          { "type": "command", "command": "./scripts/hello.sh" }
        ]
      }
    ]
  },
  "permissions": {
    "allow": [

      "Bash(npm test)"
    ]
  }
}
"""


async def furnish(bench):
    """A repository with a branch that has one change, and two sessions, the first with a call that changed something."""
    bench.model(
        when("src/parser.py, in lines 1 to 200.", tool_result_of="count_lines"),
        when(calls(("count_lines", {"path": "README.md"})), last_user_contains="How long", offers_tool="count_lines"),
        when(calls(("Bash", {"command": "touch mended.txt"})), last_user_contains="Mend the CSV"),
        text("The parser takes quoted commas."),
    )
    (bench.folder / "README.md").write_text("A parser.\n")
    (bench.folder / "RULES.md").write_text("Use tabs.\n")
    (bench.folder / "Makefile").write_text("test:\n\ttrue\n")
    await run_git(bench, "init -q -b main", "add .", "commit -q -m First", "switch -q -c topic")
    (bench.folder / "parser.py").write_text("QUOTE = '\"'\n")
    await run_git(bench, "add .", "commit -q -m Second", "remote add origin .", "fetch -q origin", "switch -q main")
    for title in ("Mend the CSV parser", "Parser rewrite"):
        async with Engine(bench.options(allowed_tools=["Bash(touch *)"]), env=bench.env) as engine:
            await engine.run(title)
    (bench.home.parent / ".config/fish/completions").mkdir(parents=True)


async def run_git(bench, *lines):
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": "/usr/bin:/bin"}
    for line in lines:
        words = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", *line.split())
        process = await asyncio.create_subprocess_exec("git", *words, cwd=bench.folder, env=own)
        assert await process.wait() == 0, line


async def summarise_in_between(bench):
    """A session of two prompts that was summarised between them, with one call of a tool."""
    folder = bench.folder
    (folder / "parser.py").write_text("QUOTE = '\"'\n" * 2_000)
    bench.model(
        bench.summary(),
        calls(("Read", {"file_path": str(folder / "parser.py")})),
        text("It splits at commas, quoted ones too. " * 20),
        text("Mended. " * 40),
    )
    async with Engine(bench.options(), env=bench.env) as engine:
        await engine.run("What is wrong with the parser?")
        async for _ in engine.compact():
            pass
        await engine.run("Mend it.")


async def fill_the_window(bench):
    """A long file that was read, and a model with a window of 200,000 tokens."""
    (bench.folder / "parser.py").write_text("QUOTE = '\"'\n" * 1_500)
    bench.model(calls(("Read", {"file_path": str(bench.folder / "parser.py")})), text("It splits at commas. " * 200))
    async with Engine(bench.options(model="claude-haiku-4-5"), env=bench.env) as engine:
        await engine.run("What is wrong with the parser?")
    (bench.home / "settings.json").write_text('{"model": "claude-haiku-4-5"}')


async def bring_settings(bench):
    """The repository brings a hook and a rule of its own."""
    (bench.folder / ".claude").mkdir()
    (bench.folder / ".claude" / "settings.json").write_text(RULES)


async def leave_unfinished(bench):
    """The first session is open in another program; the second has a tag, and its program was killed in the middle."""
    bench.model(text("The parser takes quoted commas."))
    await bench.go_on(bench.engine(resume="Mend the CSV parser"))
    async with Engine(bench.options(resume="Parser rewrite"), env=bench.env) as engine:
        result = await engine.run("And comments?")
    file = bench.session_file(result.session_id)
    lines = file.read_bytes().splitlines(keepends=True)
    prompt = next(number for number, line in enumerate(lines) if b"And comments?" in line)
    tag = {"type": "tag", "tag": "later", "sessionId": result.session_id}
    file.write_bytes(b"".join(lines[: prompt + 1]) + json.dumps(tag).encode() + b"\n")


async def ask_for_a_download(bench):
    bench.model(calls(("Bash", {"command": "npm test && curl https://example.com/install.sh"})), text("Done."))


async def write_a_call(bench):
    (bench.folder / "call.json").write_text('{"tool_name": "Bash", "tool_input": {"command": "git push"}}')


SCENES = {
    "docs/explanation/cache.md": summarise_in_between,
    "docs/explanation/context-window.md": fill_the_window,
    "docs/how-to/cost.md": summarise_in_between,
    "docs/how-to/hooks.md": write_a_call,
    "docs/how-to/sessions.md": leave_unfinished,
    "docs/how-to/trust.md": bring_settings,
    "docs/how-to/permissions.md": ask_for_a_download,
}
