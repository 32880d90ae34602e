"""`everturn completion`: a script for each shell, made from the tables of flags and commands."""

from collections.abc import Iterable, Iterator

from everturn.cli.commands import COMMANDS
from everturn.cli.console import write
from everturn.cli.flags import FLAGS
from everturn.cli.syntax import Argument, Arguments, ProgramCommand
from everturn.compose.catalog import build_catalog
from everturn.core.state import Exit
from everturn.settings.declaration import CompletionOffer, Flag, Takes
from everturn.settings.keys import KEYS, Reach
from everturn.settings.options import Options

WITHOUT_VALUE = frozenset({Takes.NOTHING, Takes.MAYBE_FILE})
"""No word of its own follows these."""
LIST_SESSIONS = "everturn sessions --ids 2>/dev/null"
"""Lists what may follow where a session is wanted."""
LISTED = {
    CompletionOffer.MODELS: build_catalog(Options()).names,
    CompletionOffer.SETTINGS: tuple(name for name, key in KEYS.items() if key.reach is not Reach.MANAGED),
}


def run_completion(asked: Arguments) -> int:
    renderers = {"bash": render_bash, "zsh": render_zsh, "fish": render_fish}
    write(renderers[asked.words[0]]())
    return Exit.OK


def render_bash() -> str:
    names = " ".join(command.name for command in COMMANDS)
    flags = " ".join(_spell_all(FLAGS))
    commands = "\n".join(_indent(2, _bash_command(command)) for command in COMMANDS)
    return f"""\
_everturn_offer() {{
    COMPREPLY=( $(compgen -W "$1" -- "$current") )
}}
_everturn() {{
    local current previous
    current="${{COMP_WORDS[COMP_CWORD]}}"
    previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    # `--flag=value` comes as three words.
    [ "$current" = "=" ] && current=""
    [ "$previous" = "=" ] && previous="${{COMP_WORDS[COMP_CWORD-2]}}"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        _everturn_offer '{names} {flags}'
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{commands}
        *)
{_indent(3, _bash_values(FLAGS))}
            _everturn_offer '{flags}' ;;
    esac
}}
complete -o default -F _everturn everturn
"""


def render_zsh() -> str:
    flags = "\n".join(f"        {_zsh_flag(flag, spelling)}" for flag in FLAGS for spelling in flag.spellings)
    names = " ".join(f"'{command.name}:{_zsh_quoted(command.help)}'" for command in COMMANDS)
    commands = "\n".join(_indent(3, _zsh_command(command)) for command in COMMANDS)
    return f"""\
#compdef everturn
_everturn_sessions() {{
    local -a ids
    ids=(${{(f)"$({LIST_SESSIONS})"}})
    compadd -a ids
}}
_everturn() {{
    local -a commands flags
    commands=({names})
    flags=(
{flags}
    )
    if (( CURRENT > 2 )); then
        case "$words[2]" in
{commands}
            *) _arguments -s $flags '*: :()' ;;
        esac
        return
    fi
    _describe command commands
    _arguments -s $flags '*: :()'
}}
if [[ "$funcstack[1]" = _everturn ]]; then
    _everturn "$@"
else
    (( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
    compdef _everturn everturn
fi
"""


def render_fish() -> str:
    names = " ".join(command.name for command in COMMANDS)
    lines = ["complete -c everturn -f"]
    for command in COMMANDS:
        told = f"-a {command.name} -d '{_fish_quoted(command.help)}'"
        lines += [f"complete -c everturn -n __fish_use_subcommand {told}", *_fish_command(command)]
    lines += [_fish_flag(flag, f"not __fish_seen_subcommand_from {names}") for flag in FLAGS]
    return "\n".join(lines) + "\n"


def _spell_all(flags: Iterable[Flag]) -> list[str]:
    return [spelling for flag in flags for spelling in flag.spellings]


def _name_flags(command: ProgramCommand) -> str:
    """In one spelling each."""
    return " ".join(flag.name for flag in command.all_flags)


def _list_first_words(command: ProgramCommand) -> str:
    """Behind a command with actions: these, and the flags of the one that is meant where none is named."""
    default = command.find_action(command.default) or command
    return " ".join((*(action.name for action in command.actions), _name_flags(default)))


def _list_values(row: Flag | Argument) -> tuple[str, ...]:
    return row.choices or LISTED.get(row.offer, ())


def _offers_files(row: Flag | Argument) -> bool:
    return row.offer is CompletionOffer.FILES or (isinstance(row, Flag) and row.takes is Takes.FILE)


def _indent(steps: int, text: str) -> str:
    return "\n".join(f"{'    ' * steps}{line}" if line else line for line in text.splitlines())


def _bash_command(command: ProgramCommand) -> str:
    if not command.actions:
        return f"{command.name})\n{_indent(1, _bash_leaf(command, 1))} ;;"
    actions = "\n".join(f"        {action.name})\n{_indent(3, _bash_leaf(action, 2))} ;;" for action in command.actions)
    default = command.find_action(command.default)
    implied = f"\n        *)\n{_indent(3, _bash_leaf(default, 1))} ;;" if default is not None else ""
    return f"""{command.name})
    if [ "$COMP_CWORD" -eq 2 ]; then
        _everturn_offer '{_list_first_words(command)}'
    else
        case "${{COMP_WORDS[2]}}" in
{_indent(1, actions)}{_indent(1, implied)}
        esac
    fi ;;"""


def _bash_leaf(command: ProgramCommand, depth: int) -> str:
    """`depth`: how many words name it."""
    lines = [_bash_values(command.all_flags)] if any(flag.value for flag in command.flags) else []
    lines.append(f"_everturn_offer '{_name_flags(command)}'")
    for at, argument in enumerate(command.arguments, depth + 1):
        if argument.offer is CompletionOffer.SESSIONS:
            lines.append(f'_everturn_offer "{_name_flags(command)} $({LIST_SESSIONS})"')
        elif values := _list_values(argument):
            lines.append(f"[ \"$COMP_CWORD\" -eq {at} ] && _everturn_offer '{' '.join(values)}'")
    if command.literal:
        lines.append(f'[ "$COMP_CWORD" -gt {depth + 1} ] && COMPREPLY=()')
    return "\n".join(lines)


def _bash_values(flags: Iterable[Flag]) -> str:
    cases = [f"    {_bash_value(flag)}" for flag in flags if flag.takes not in WITHOUT_VALUE]
    return "\n".join(('case "$previous" in', *cases, "esac"))


def _bash_value(flag: Flag) -> str:
    pattern = "|".join(flag.spellings)
    if _offers_files(flag):
        return f'{pattern}) COMPREPLY=( $(compgen -f -- "$current") ); return ;;'
    if flag.offer is CompletionOffer.SESSIONS:
        return f'{pattern}) _everturn_offer "$({LIST_SESSIONS})"; return ;;'
    if values := _list_values(flag):
        return f"{pattern}) _everturn_offer '{' '.join(values)}'; return ;;"
    return f"{pattern}) return ;;"


def _zsh_command(command: ProgramCommand) -> str:
    if not command.actions:
        return f"{command.name})\n{_indent(1, _zsh_leaf(command, 2))} ;;"
    actions = "\n".join(f"    {action.name})\n{_indent(2, _zsh_leaf(action, 3))} ;;" for action in command.actions)
    default = command.find_action(command.default)
    implied = f"\n    *)\n{_indent(2, _zsh_leaf(default, 2))} ;;" if default is not None else ""
    return f"""{command.name})
    if (( CURRENT == 3 )); then
        compadd -- {_list_first_words(command)}
        return
    fi
    case "$words[3]" in
{actions}{implied}
    esac ;;"""


def _zsh_leaf(command: ProgramCommand, depth: int) -> str:
    """`depth`: how many words name it, the program's name included."""
    lines = []
    if cases := [f"    {_zsh_value(flag)}" for flag in command.flags if flag.takes not in WITHOUT_VALUE]:
        lines += ['case "$words[CURRENT-1]" in', *cases, "esac"]
    offered = f"compadd -- {_name_flags(command)}"
    for at, argument in enumerate(command.arguments, depth + 1):
        if argument.offer is CompletionOffer.SESSIONS:
            lines.append("_everturn_sessions")
        elif values := _list_values(argument):
            lines.append(f"if (( CURRENT == {at} )); then compadd -- {' '.join(values)}; return; fi")
        elif _offers_files(argument):
            lines.append("_files")
    lines.append(f"(( CURRENT == {depth + 1} )) && {offered}" if command.literal else offered)
    return "\n".join(lines)


def _zsh_value(flag: Flag) -> str:
    pattern = "|".join(flag.spellings)
    if _offers_files(flag):
        return f"{pattern}) _files; return ;;"
    if flag.offer is CompletionOffer.SESSIONS:
        return f"{pattern}) _everturn_sessions; return ;;"
    if values := _list_values(flag):
        return f"{pattern}) compadd -- {' '.join(values)}; return ;;"
    return f"{pattern}) return ;;"


def _zsh_flag(flag: Flag, spelling: str) -> str:
    told = _zsh_quoted(flag.help).replace("[", "(").replace("]", ")").replace(":", "\\:")
    match flag.takes:
        case Takes.NOTHING:
            return f"'{spelling}[{told}]'"
        case Takes.MAYBE_FILE:
            return f"'{spelling}=-[{told}]::file:_files'"
        case Takes.FILE:
            return f"'{spelling}[{told}]:file:_files'"
        case _ if flag.offer is CompletionOffer.SESSIONS:
            return f"'{spelling}[{told}]:session:_everturn_sessions'"
        case _:
            return f"'{spelling}[{told}]:value:({' '.join(_list_values(flag))})'"


def _fish_command(command: ProgramCommand) -> Iterator[str]:
    seen = f"__fish_seen_subcommand_from {command.name}"
    if not command.actions:
        yield from _fish_leaf(command, seen)
        return
    actions = f"__fish_seen_subcommand_from {' '.join(action.name for action in command.actions)}"
    for action in command.actions:
        told = f"-a {action.name} -d '{_fish_quoted(action.help)}'"
        yield f"complete -c everturn -n '{seen}; and not {actions}' {told}"
        yield from _fish_leaf(action, f"{seen}; and __fish_seen_subcommand_from {action.name}")
    default = command.find_action(command.default)
    for flag in default.all_flags if default is not None else command.all_flags:
        yield _fish_flag(flag, f"{seen}; and not {actions}")


def _fish_leaf(command: ProgramCommand, condition: str) -> Iterator[str]:
    for flag in command.all_flags:
        yield _fish_flag(flag, condition)
    for argument in command.arguments:
        if argument.offer is CompletionOffer.SESSIONS:
            yield f"complete -c everturn -n '{condition}' -a '({LIST_SESSIONS})'"
        elif values := _list_values(argument):
            once = f"{condition}; and not __fish_seen_subcommand_from {' '.join(values)}"
            yield f"complete -c everturn -n '{once}' -a '{' '.join(values)}'"
        elif _offers_files(argument):
            yield f"complete -c everturn -n '{condition}' -F"


def _fish_flag(flag: Flag, condition: str) -> str:
    short = f" -s {flag.short.removeprefix('-')}" if flag.short else ""
    names = "".join(f" -l {name.removeprefix('--')}" for name in (flag.name, *flag.also))
    values = _list_values(flag)
    if flag.takes in WITHOUT_VALUE:
        takes = ""
    elif _offers_files(flag):
        takes = " -r -F"
    elif flag.offer is CompletionOffer.SESSIONS:
        takes = f" -x -a '({LIST_SESSIONS})'"
    else:
        takes = f" -x -a '{' '.join(values)}'" if values else " -x"
    return f"complete -c everturn -n '{condition}'{short}{names}{takes} -d '{_fish_quoted(flag.help)}'"


def _zsh_quoted(text: str) -> str:
    """Inside single quotes, where only another one ends them."""
    return text.replace("'", "'\\''")


def _fish_quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
