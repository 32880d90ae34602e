"""The sandbox of an engine: what the settings want, with what the machine has."""

import os
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from everturn.core.errors import OptionError
from everturn.permissions.rules.rule import Rule
from everturn.ports.policy import Ruling
from everturn.sandbox.confining import CommandSandbox, Surroundings
from everturn.sandbox.probe import find_means
from everturn.sandbox.settings import Wishes, parse_wishes
from everturn.settings.setup import Setup


def build_sandbox(
    setup: Setup, env: Mapping[str, str], rules: Iterable[Rule] = ()
) -> tuple[CommandSandbox | None, str]:
    """None where it is off; and a warning where it is wanted and there is none. Raises `OptionError`.

    What `rules` deny to Read and Edit is denied to commands, too.
    """
    options, folder = setup.options, str(setup.folder)
    user_home = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - paths as text
    wishes = parse_wishes(options.sandbox or False, folder, user_home)
    if not wishes.enabled:
        return None, ""
    wishes = deny_more(wishes, rules, folder, user_home)
    means = find_means(wishes.program)
    if means.kind == "none" and wishes.required:
        raise OptionError("sandbox", f"is required, and there is none here: {means.why}")
    homes = (str(setup.home), env.get("EVERTURN_HOME"), env.get("CLAUDE_CONFIG_DIR"), f"{user_home}/.claude")
    added = (*options.add_dirs, *options.additional_directories)
    surroundings = Surroundings(
        folders=tuple(os.path.join(folder, os.path.expanduser(each)) for each in added),  # noqa: PTH111, PTH118 - as text
        home=user_home,
        own=tuple(dict.fromkeys(os.path.abspath(home) for home in homes if home)),  # noqa: PTH100 - paths as text
    )
    warning = f"COMMANDS RUN WITHOUT A SANDBOX, although the settings want one: {means.why}."
    if means.kind == "landlock" and wishes.has_network:
        warning = f"Commands in the sandbox reach no network, although hosts are allowed: that takes bubblewrap ({means.why})."
        return CommandSandbox(wishes, means, surroundings), warning
    return CommandSandbox(wishes, means, surroundings), warning if means.kind == "none" else ""


def deny_more(wishes: Wishes, rules: Iterable[Rule], folder: str, user_home: str) -> Wishes:
    denied = [rule for rule in rules if rule.ruling is Ruling.DENY and rule.specifier is not None]
    return msgspec.structs.replace(
        wishes,
        deny_read=(*wishes.deny_read, *name_paths(denied, "Read", folder, user_home)),
        deny_write=(*wishes.deny_write, *name_paths(denied, "Edit", folder, user_home)),
    )


def name_paths(rules: Iterable[Rule], tool: str, folder: str, user_home: str) -> Iterator[str]:
    """Of rules that name one place. A name without a folder means any depth: here it holds at the top."""
    for rule in rules:
        bare = (rule.specifier or "").removeprefix("**/").removesuffix("**").rstrip("/")
        if rule.tool != tool or not bare or any(mark in bare for mark in "*?[!\\"):
            continue
        anchors = {"//": "/", "~/": user_home, "/": rule.folder or folder, "./": folder}
        anchor = next((anchor for anchor in anchors if bare.startswith(anchor)), "")
        yield os.path.normpath(f"{anchors.get(anchor, folder)}/{bare[len(anchor) :]}")
