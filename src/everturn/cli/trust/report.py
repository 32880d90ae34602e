"""What a folder's own settings would do, for a person to judge: whole, and with nothing that a terminal would obey. Pure."""

from collections.abc import Iterable

import msgspec

from everturn.core.errors import OptionError
from everturn.frontends.asking.visible import make_visible
from everturn.ports.policy import Ruling
from everturn.ports.trust import Definition
from everturn.settings.keys import ENV, FOLDERS, RULES
from everturn.settings.places import OF_THE_REPOSITORY
from everturn.settings.sources import Merged

NOTHING = "Its own settings would change nothing.\n"
KINDS = {
    "hooks": "would run on {}",
    "mcpServers": "would start as the MCP server {}",
    "statusLine": "would run for the status line",
    "apiKeyHelper": "would run to get the key for the model",
}


def render_wishes(
    merged: Merged, programs: Iterable[Definition], unread: Iterable[OptionError] = (), *, of_git: str = ""
) -> str:
    """`merged` as if the folder were trusted; `programs` are all that it defines, `unread` what cannot be understood of it.

    `of_git`: what its repository would have git run or follow.
    """
    lines = [f"  cannot be read, so that more may be in it than is shown: {make_visible(str(one))}" for one in unread]
    if of_git:
        lines.append(f"  git would run or follow {make_visible(of_git)}")
    lines += [line for program in programs for line in _render_program(program)]
    lines += [
        f"  would run without a question: {make_visible(rule.text)}  ({make_visible(rule.origin)})"
        for rule in merged.permissions.rules
        if rule.source in OF_THE_REPOSITORY and rule.ruling is Ruling.ALLOW
    ]
    for name, value, path in merged.of_repository:
        if name == ENV:
            shown = (f"{make_visible(variable)}={make_visible(content)}" for variable, content in value.items())
            lines += [f"  would set {line}  ({make_visible(path)})" for line in shown]
        elif name == FOLDERS:
            lines += [f"  would work in {make_visible(folder)}, too  ({make_visible(path)})" for folder in value]
        elif name not in RULES:
            lines.append(f"  would set {name} to {_render(value)}  ({make_visible(path)})")
    return "\n".join(lines) + "\n" if lines else NOTHING


def _render_program(program: Definition) -> list[str]:
    what = KINDS[program.kind].format(make_visible(program.name))
    return [f"  {what}  ({make_visible(program.origin)}):", f"    {_render(program.value)}"]


def _render(value: object) -> str:
    return make_visible(value if isinstance(value, str) else msgspec.json.encode(value).decode())
