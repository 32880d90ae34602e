"""The narrowest rules that would let a command pass next time: what "always allow" writes, after showing it."""

from everturn.core.patterns import compile_late
from everturn.permissions.shell.files.redirect_targets import find_target
from everturn.permissions.shell.reading.assignments import is_safe_assignment
from everturn.permissions.shell.reading.syntax import Command, Redirect, Word, join_words
from everturn.permissions.shell.reading.wrappers import strip_wrappers
from everturn.permissions.shell.readonly.find import may_act
from everturn.permissions.shell.readonly.judge import judge_reading
from everturn.permissions.shell.running.runners import INTERPRETERS, READERS_OF_CODE, RUNNERS
from everturn.permissions.shell.running.survey import read_command
from everturn.ports.scratch import VARIABLE

MAX_RULES = 5
_MAX_LENGTH = 200
_NEVER = INTERPRETERS | READERS_OF_CODE | {
    "export", "declare", "typeset", "local", "readonly", "alias", "unalias", "enable", "set", "shopt", "unset", "hash",
    "read", "mapfile", "readarray", "bind", "let", "printf", "ssh", "docker", "podman", "kubectl", "chmod", "chown",
    "dd", "mkfs", "mount", "kill", "pkill", "killall", "shutdown", "reboot", "crontab",
}  # fmt: skip
"""No rule for these is narrow: they run code, change what later commands mean, or reach far."""
_WITH_ARGUMENTS: dict[str, int] = {
    **dict.fromkeys(("pytest", "mypy", "tsc", "eslint", "prettier", "jest", "vitest", "black", "flake8", "pylint"), 1),
    **dict.fromkeys(("npm test", "pnpm test", "yarn test", "bun test", "npm t"), 2),
    **dict.fromkeys(("npm run", "pnpm run", "yarn run", "bun run", "npm run-script"), 3),
    **dict.fromkeys(("cargo test", "cargo build", "cargo check", "cargo clippy", "cargo fmt"), 2),
    **dict.fromkeys(("go test", "go build", "go vet", "ruff check", "ruff format", "dotnet test", "dotnet build"), 2),
    **dict.fromkeys(("git add", "git commit", "git switch"), 2),
    **dict.fromkeys(("gradle test", "mvn test", "terraform plan", "terraform validate", "pip list", "pip show"), 2),
    **{
        f"{python} -m {module}": 3
        for python in ("python", "python3")
        for module in ("pytest", "unittest", "mypy", "black", "flake8", "pylint", "ruff", "compileall")
    },
}
"""How many words name the deed; arguments behind them do not change what it is."""
_MAX_NAMING = 3
_PATTERN_MARKS = compile_late(r"[\\*?\[\]!# ()]")
"""In a rule's path they would mean something else than in a file's name."""

_IN_SCRATCH = compile_late(rf'"?\$(?:{VARIABLE}|\{{{VARIABLE}\}})/')
"""What is written there needs no rule."""


def plan_narrow_rules(command: str) -> tuple[str, ...]:
    """One rule for each part and each written file that needs one; none at all where one of them would be wider than it looks."""
    reading = read_command(command)
    if reading.unsure:
        return ()
    rules: dict[str, None] = {}
    for part in reading.commands:
        words = strip_wrappers(part.words)
        plain = words[0].plain and all(is_safe_assignment(each) for each in part.assignments)
        if plain and judge_reading(words, "/") is not None:
            continue
        specifier = _narrow(part) if plain else None
        if specifier is None:
            return ()
        rules[f"Bash({specifier})"] = None
    for redirect in reading.redirects:
        rule = _plan_writing(redirect, moves=reading.moves)
        if rule is None:
            return ()
        rules |= dict.fromkeys([rule] if rule else [])
    return tuple(rules) if len(rules) <= MAX_RULES else ()


def plan_exact_rules(command: str) -> tuple[str, ...]:
    """A rule for exactly this text, where it is one command with fixed words; none where a narrow rule would do."""
    reading = read_command(command)
    if reading.unsure or len(reading.commands) != 1 or reading.redirects or len(command) > _MAX_LENGTH:
        return ()
    [part] = reading.commands
    words = [*part.words, *(each.word for each in part.assignments)]
    text = " ".join([*(each.word.raw for each in part.assignments), join_words(part.words)])
    if text != command.strip() or "*" in text or "\n" in text or any(word.value is None for word in words):
        return ()
    return () if part.words[0].raw in _NEVER - INTERPRETERS - READERS_OF_CODE else (f"Bash({text})",)


def _plan_writing(redirect: Redirect, *, moves: bool) -> str | None:
    """A rule for the file that it writes; empty where it writes none, None where no rule would name that file alone."""
    target = find_target(redirect)
    if target is None or target.use == "read" or (redirect.target and _IN_SCRATCH.match(redirect.target.raw)):
        return ""
    path = target.path
    if path is None or moves or ".." in path.split("/") or path.startswith("~") or _PATTERN_MARKS.search(path):
        return None
    return f"Edit(/{path})" if path.startswith("/") else f"Edit(./{path.removeprefix('./')})"


def _narrow(part: Command) -> str | None:
    words = strip_wrappers(part.words)
    if (deed := _find_deed(words)) is not None:
        return f"{deed} *"
    name = words[0].raw
    if name in RUNNERS or name in _NEVER or f"{name} {words[1].raw if len(words) > 1 else ''}" in RUNNERS:
        return None
    if name == "find" and may_act(words) and any(word.fixed is None for word in words):
        return None
    text = join_words(words)
    # A star would be a wildcard, a trailing `:*` too; what is not fixed would be another command next time.
    if "*" in text or "\n" in text or len(text) > _MAX_LENGTH or any(word.value is None for word in words):
        return None
    return text


def _find_deed(words: tuple[Word, ...]) -> str | None:
    """The words that name what is done, where anything may follow them."""
    for count in range(min(_MAX_NAMING, len(words)), 0, -1):
        named = _WITH_ARGUMENTS.get(join_words(words[:count]))
        if named is None or len(words) < named or not all(word.plain for word in words[:named]):
            continue
        deed = join_words(words[:named])
        return deed if count == named or _are_names(words[count:named]) else None
    return None


def _are_names(words: tuple[Word, ...]) -> bool:
    """`npm run --prefix x` says nothing about what is run."""
    return not any(word.raw.startswith("-") for word in words)
