"""What the rules of the grammar name, said a second time and in another way: by what was really called."""

_READERS = {"ls", "cat", "head", "wc", "grep", "find", "git", "tail", "sort", "tac", "which", "sed"}
_NEVER = {
    "find": {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint"},
    "sort": {"-o", "--output"},
    "sed": {"-i", "1e bad"},
    "git": {"-c", "--output"},
}
_SUBCOMMANDS = {"status", "log", "diff", "show"}


def is_named(call: tuple[str, ...]) -> bool:
    """A program that was called, with its arguments."""
    name, *arguments = call
    if name == "good":
        return arguments[:1] != ["ask"] and "--never" not in arguments[1:][-1:]
    if name == "fine":
        return arguments[:1] == ["run"]
    if name == "exact":
        return arguments == ["one"]
    if name.startswith("left"):
        return True
    if arguments[-1:] == ["--ok"]:
        return name not in {"bad", "sh", "bash", "sudo", "setsid", "find"}
    if name == "git":
        return arguments[:1] != [] and arguments[0] in _SUBCOMMANDS and not _NEVER["git"] & set(arguments)
    return name in _READERS and not _NEVER.get(name, set()) & set(arguments) and "secret" not in arguments


def find_unread(calls: list[tuple[str, ...]], left: list[str]) -> str:
    """Empty when nothing was called but readers, with options that only read, and nothing was written. No rule names anything."""
    for name, *given in calls:
        # Behind two dashes nothing is an option any more.
        arguments = given[: given.index("--")] if "--" in given else given
        written = any(each.startswith(("-o", "--output")) for each in arguments) and name in {"sort", "git", "tree"}
        if (
            name not in _READERS | {"seq", "uniq", "base64", "tree"}
            or written
            or _NEVER.get(name, set()) & set(arguments)
        ):
            return f"called {name!r} with {arguments!r}"
        if name == "git" and (not arguments or arguments[0] not in {*_SUBCOMMANDS, "ls-files"}):
            return f"called git with {arguments!r}"
        if name in {"uniq", "base64"} and len(arguments) > 1:
            return f"called {name} with {arguments!r}"
    return f"wrote {left}" if left else ""


def find_breach(calls: list[tuple[str, ...]], left: list[str]) -> str:
    """Empty when nothing happened that the rules do not name."""
    for call in calls:
        if not is_named(call):
            return f"called {call!r}"
    written = [name for name in left if name != "ok.txt"]
    return f"wrote {written}" if written else ""
