"""`everturn completion`: a script for each shell, made from the table of flags and commands."""

from everturn.cli.console import write
from everturn.cli.flags import COMMANDS, FLAGS, Command, Flag, Takes
from everturn.cli.usage import UsageError
from everturn.compose.catalog import build_catalog
from everturn.core.state import Exit
from everturn.settings.checks import nearest
from everturn.settings.keys import KEYS, Reach
from everturn.settings.options import Options

SEE = "everturn completion --help"
FILES = frozenset({Takes.FILE, Takes.MAYBE_FILE})
SESSIONS = "everturn sessions --ids 2>/dev/null"
"""Lists what may follow where a session is wanted."""
QUOTE = "'"
MODELS = build_catalog(Options()).names
SETTINGS = tuple(name for name, key in KEYS.items() if key.reach is not Reach.MANAGED)


def run_completion(words: list[str]) -> int:
    renderers = {"bash": render_bash, "zsh": render_zsh, "fish": render_fish}
    if words in (["-h"], ["--help"]):
        from everturn.cli.help import COMPLETION

        write(COMPLETION)
        return Exit.OK
    if len(words) != 1 or words[0] not in renderers:
        said = f"; {words[0]!r} is no shell that it knows{nearest(words[0], renderers)}" if words else ""
        raise UsageError(f"this is how it is written: everturn completion {'|'.join(renderers)}{said}", see=SEE)
    write(renderers[words[0]]())
    return Exit.OK


def render_bash() -> str:
    flags = " ".join(spelling for flag in FLAGS for spelling in flag.spellings)
    values = "\n".join(_bash_value(flag) for flag in FLAGS if flag.takes not in {Takes.NOTHING, Takes.MAYBE_FILE})
    commands = "\n".join(f"            {command.name}) {_bash_words(command)} ;;" for command in COMMANDS)
    names = " ".join(command.name for command in COMMANDS)
    return f"""\
_everturn() {{
    local current previous words
    current="${{COMP_WORDS[COMP_CWORD]}}"
    previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    # `--flag=value` comes as three words.
    [ "$current" = "=" ] && current=""
    [ "$previous" = "=" ] && previous="${{COMP_WORDS[COMP_CWORD-2]}}"
    COMPREPLY=()
    case "$previous" in
{values}
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        words='{names} {flags}'
    else
        case "${{COMP_WORDS[1]}}" in
{commands}
            *) words='{flags}' ;;
        esac
    fi
    COMPREPLY=( $(compgen -W "$words" -- "$current") )
}}
complete -o default -F _everturn everturn
"""


def render_zsh() -> str:
    flags = "\n".join(f"        {_zsh_flag(flag, spelling)}" for flag in FLAGS for spelling in flag.spellings)
    names = " ".join(f"'{command.name}:{_zsh_quoted(command.help)}'" for command in COMMANDS)
    commands = "\n".join(f"            {command.name}) {_zsh_words(command)} ;;" for command in COMMANDS)
    return f"""\
#compdef everturn
_everturn_sessions() {{
    local -a ids
    ids=(${{(f)"$({SESSIONS})"}})
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
        lines.append(
            f"complete -c everturn -n __fish_use_subcommand -a {command.name} -d '{_fish_quoted(command.help)}'"
        )
        condition = f"'__fish_seen_subcommand_from {command.name}'"
        lines += _fish_words(command)
        lines += [f"complete -c everturn -n {condition} -l {flag.removeprefix('--')}" for flag in command.flags]
        if command.sessions:
            begun = f"; and __fish_seen_subcommand_from {' '.join(command.words)}" if command.words else ""
            lines.append(f"complete -c everturn -n '{condition.strip(QUOTE)}{begun}' -a '({SESSIONS})'")
    lines += [_fish_flag(flag, f"'not __fish_seen_subcommand_from {names}'") for flag in FLAGS]
    return "\n".join(lines) + "\n"


def _bash_words(command: Command) -> str:
    words = " ".join((*command.words, *command.flags))
    if command.before_setting:
        places = "|".join(f"3:{word}" for word in command.before_setting)
        return f"""words='{words}'
                case "$COMP_CWORD:${{COMP_WORDS[2]}}" in
                    {places}) words='{" ".join(SETTINGS)}' ;;
                    [3-9]:*) words='' ;;
                esac"""
    if not command.sessions:
        return f"words='{words}'"
    # The first word of a command that has some is one of them, and what follows is a session.
    first = 2 if command.words else 1
    return f"""words='{words}'; [ "$COMP_CWORD" -gt {first} ] && words="{" ".join(command.flags)} $({SESSIONS})\""""


def _zsh_words(command: Command) -> str:
    listed = f"compadd -- {' '.join((*command.words, *command.flags))}"
    if command.before_setting:
        follows = f"(( CURRENT == 4 )) && [[ $words[3] == ({'|'.join(command.before_setting)}) ]]"
        return f"if {follows}; then compadd -- {' '.join(SETTINGS)}; elif (( CURRENT == 3 )); then {listed}; fi"
    if not command.sessions:
        return listed
    if not command.words:
        return f"{listed}; _everturn_sessions"
    return f"if (( CURRENT > 3 )); then compadd -- {' '.join(command.flags)}; _everturn_sessions; else {listed}; fi"


def _fish_words(command: Command) -> list[str]:
    """The first word once; a setting behind those that want one."""
    if not command.words:
        return []
    seen = "__fish_seen_subcommand_from"
    first = f"'{seen} {command.name}; and not {seen} {' '.join(command.words)}'"
    lines = [f"complete -c everturn -n {first} -a {word}" for word in command.words]
    if command.before_setting:
        then = f"'{seen} {command.name}; and {seen} {' '.join(command.before_setting)}'"
        lines.append(f"complete -c everturn -n {then} -a '{' '.join(SETTINGS)}'")
    return lines


def _choices(flag: Flag) -> tuple[str, ...]:
    return MODELS if flag.models else flag.choices


def _bash_value(flag: Flag) -> str:
    pattern = "|".join(flag.spellings)
    if flag.takes in FILES:
        return f'        {pattern}) COMPREPLY=( $(compgen -f -- "$current") ); return ;;'
    if flag.sessions:
        return f"""        {pattern}) COMPREPLY=( $(compgen -W "$({SESSIONS})" -- "$current") ); return ;;"""
    if choices := _choices(flag):
        return f"""        {pattern}) COMPREPLY=( $(compgen -W '{" ".join(choices)}' -- "$current") ); return ;;"""
    return f"        {pattern}) return ;;"


def _zsh_flag(flag: Flag, spelling: str) -> str:
    told = _zsh_quoted(flag.help).replace("[", "(").replace("]", ")").replace(":", "\\:")
    match flag.takes:
        case Takes.NOTHING:
            return f"'{spelling}[{told}]'"
        case Takes.MAYBE_FILE:
            return f"'{spelling}=-[{told}]::file:_files'"
        case Takes.FILE:
            return f"'{spelling}[{told}]:file:_files'"
        case _ if flag.sessions:
            return f"'{spelling}[{told}]:session:_everturn_sessions'"
        case _:
            return f"'{spelling}[{told}]:value:({' '.join(_choices(flag))})'"


def _fish_flag(flag: Flag, condition: str) -> str:
    short = f" -s {flag.short.removeprefix('-')}" if flag.short else ""
    names = "".join(f" -l {name.removeprefix('--')}" for name in (flag.name, *flag.also))
    match flag.takes:
        case Takes.NOTHING | Takes.MAYBE_FILE:
            takes = ""
        case Takes.FILE:
            takes = " -r -F"
        case _ if flag.sessions:
            takes = f" -x -a '({SESSIONS})'"
        case _:
            takes = f" -x -a '{' '.join(_choices(flag))}'" if _choices(flag) else " -x"
    return f"complete -c everturn -n {condition}{short}{names}{takes} -d '{_fish_quoted(flag.help)}'"


def _zsh_quoted(text: str) -> str:
    """Inside single quotes, where only another one ends them."""
    return text.replace("'", "'\\''")


def _fish_quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
