"""Everything that a command line may run: through runners, scripts in strings, and doubts."""

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice
from posixpath import basename

import msgspec

from everturn.core.patterns import compile_late
from everturn.permissions.shell.reading.assignments import CODE_VARIABLES
from everturn.permissions.shell.reading.evaluation import find_settled
from everturn.permissions.shell.reading.heredocs import lift_bodies, mask_bodies
from everturn.permissions.shell.reading.parser import parse
from everturn.permissions.shell.reading.prescan import count_signs, find_hidden, find_obstacle
from everturn.permissions.shell.reading.syntax import (
    UNKNOWN,
    Command,
    Here,
    Reading,
    Redirect,
    Word,
    drop_marks,
    join_words,
    write_marks,
)
from everturn.permissions.shell.reading.values import EMPTY, LOOSE, VariableScope, of_texts
from everturn.permissions.shell.reading.wrappers import strip_wrappers
from everturn.permissions.shell.running.inner_commands import find_inner, find_inner_words
from everturn.permissions.shell.running.runner_words import skip_options
from everturn.permissions.shell.tree.statements import read_tree

_SPEAKERS = frozenset({"echo", "printf"})
_MAX_DEPTH = 3
_MAX_TEXT = 20_000
"""Characters of scripts in strings that are looked into, all together."""
_MAX_SIGNS = 1_200
"""Of shell, in the line and in all of its scripts: the parser's time grows with them."""
_MAX_SCRIPTS = 4
_MAX_SAID = 4
"""Words of `printf` that may be a script each."""
_MAX_SETTLED = 64
"""Commands whose variables are put in."""
_MAX_WORDS = 1_000
"""Of a command that is not understood, so many are looked at as files."""
_HARMLESS_SIGNS = compile_late(r"&&|\|\||[0-9]*[<>]&[0-9-]|&>>?")
_UNORDERED = compile_late(r"[&|`]|\$\(|[<>]\(|\b(?:for|while|until|select|coproc)\b")
"""Parts that run beside each other, or more than once. Inside of quotes it means nothing, and is taken for one all the same."""


class Candidate(msgspec.Struct, frozen=True):
    """A command that may run: its words as templates, and where."""

    argv: tuple[str, ...]
    here: Here
    source: Command | None = None
    """The command of the line, or of a script in it, that it is or stands in."""

    @property
    def text(self) -> str:
        """As it is written, for people and the model."""
        return write_marks(" ".join(self.argv)) if self.source is None else self.source.text


class Survey(msgspec.Struct):
    reading: Reading
    """What the line itself holds; only this can be approved."""
    text: str = ""
    """The line as written."""
    candidates: list[Candidate] = msgspec.field(default_factory=list)
    texts: dict[str, None] = msgspec.field(default_factory=dict)
    """What deny and ask rules are held against."""
    suspicions: dict[str, None] = msgspec.field(default_factory=dict)
    """Texts that would be commands if quotes meant nothing. Looked at only where something is not understood."""
    redirects: list[Redirect] = msgspec.field(default_factory=list)
    beginnings: dict[str, None] = msgspec.field(default_factory=dict)
    """Of commands with a word that may become anything: what stands before it."""
    murky: list[str] = msgspec.field(default_factory=list)
    """Where code comes from that nobody can see before it runs."""
    unseen: list[str] = msgspec.field(default_factory=list)
    """Of `murky`, what may open files: a script in a file is a program as any other, and code from a pipe is not."""
    readings: list[Reading] = msgspec.field(default_factory=list)
    """Of the line, and of the scripts in it that are understood."""
    fed: dict[str, None] = msgspec.field(default_factory=dict)
    """Heredocs and here-strings, also of scripts."""
    assigned: dict[tuple[str, str], None] = msgspec.field(default_factory=dict)
    """Variables that are set for one command, with what they hold."""

    @property
    def runs_in_order(self) -> bool:
        """Each part has ended before the next begins."""
        return _UNORDERED.search(_HARMLESS_SIGNS.sub("", self.text)) is None


def survey_command(command: str, cwd: str, home: str, temporary: str = "", exports: Mapping[str, str] = {}) -> Survey:
    """`temporary`: what `TMPDIR` holds when the line begins, if that is known. `exports`: what earlier commands have set for it."""
    obstacle = find_obstacle(command)
    if obstacle:
        survey = Survey(Reading(commands=(), unsure=(obstacle,), broken=True), command)
        _look_closer(command, survey)
        return survey
    known_values = ((name, of_texts([value])) for name, value in exports.items() if name in command)
    reading = _read(command, frozenset((cwd,)), home, VariableScope(tuple(known_values)), temporary)
    survey = Survey(reading, command)
    budget, signs = _MAX_TEXT, max(_MAX_SIGNS - count_signs(command), _MAX_SIGNS // 3)
    waiting = [(reading, 0)]
    known: set[str] = set()
    while waiting:
        current, depth = waiting.pop()
        survey.redirects.extend(current.redirects)
        survey.readings.append(current)
        for script, here in _note(current, survey, home):
            if script in known:
                continue
            known.add(script)
            budget -= len(script)
            signs -= count_signs(script)
            if depth >= _MAX_DEPTH or min(budget, signs) < 0 or find_obstacle(script):
                survey.murky.append("a script within scripts")
                survey.unseen.append("a script within scripts")
                _look_closer(script, survey)
            else:
                # What its variables hold when it runs is not followed.
                waiting.append((_read(script, here, home, LOOSE, ""), depth + 1))
        if current.unsure and depth:
            survey.murky.append("a script that is not understood")
    if reading.unsure:
        _look_closer(command, survey)
    return survey


def read_command(command: str, cwd: str = "/", home: str = "/") -> Reading:
    """What the line itself holds, without a look behind runners."""
    obstacle = find_obstacle(command)
    if obstacle:
        return Reading(commands=(), unsure=(obstacle,), broken=True)
    return _read(command, frozenset((cwd,)), home, EMPTY, "")


@lru_cache(maxsize=16)
def _read(command: str, start: Here, home: str, scope: VariableScope, temporary: str) -> Reading:
    """Kept for a moment: a call is asked about more than once before it runs. No argument has a default, which would be another key."""
    reading = _read_with(command, start, home, scope, "")
    if temporary:
        from everturn.permissions.shell.reading.tmpdir import keeps_temporary

        if keeps_temporary(command, reading):
            return _read_with(command, start, home, scope, temporary)
    return reading


def _read_with(command: str, start: Here, home: str, scope: VariableScope, temporary: str) -> Reading:
    data = command.encode("utf-8", "replace")
    source = command if command.isascii() else data.decode("latin-1")
    seen, masked = mask_bodies(source)
    read = partial(read_tree, home=home, temporary=temporary, scope=scope)
    reading = read(parse(seen.encode("latin-1") if masked else data), source, start, masked=masked)
    if masked and reading.broken:
        reading = read(parse(data), source, start)
    if reading.unsure and (lifted := lift_bodies(source)) is not None:
        seen, fed = lifted
        plain = read(parse(seen.encode("latin-1")), seen, start)
        # What feeds a pipe is no longer to be seen there.
        reading = reading if plain.unsure else msgspec.structs.replace(plain, fed=(*fed, *plain.fed), pipes=())
    hidden = find_hidden(command)
    return (
        msgspec.structs.replace(reading, unsure=(*reading.unsure, hidden), broken=True, holdable=False)
        if hidden
        else reading
    )


def _note(reading: Reading, survey: Survey, home: str) -> list[tuple[str, Here]]:
    """Scripts in strings are handed back, with the folders that they may run in."""
    scripts: list[tuple[str, Here]] = []
    listens, interpreters = False, dict[str, None]()
    settled = (each for command in reading.commands for each in find_settled(command, home))
    survey.fed.update(dict.fromkeys(reading.fed))
    survey.murky.extend(f"{name} names code that runs" for name in sorted(reading.own_names & CODE_VARIABLES))
    for command in (*reading.commands, *islice(settled, _MAX_SETTLED)):
        for each in command.assignments:
            survey.assigned[each.name, each.value.template] = None
            if each.name in CODE_VARIABLES:
                survey.murky.append(f"{each.name} names code that runs")
        for text in _spellings(command):
            survey.texts[text] = None
        found = find_inner(command)
        listens = listens or found.listens
        interpreters.update(dict.fromkeys(found.interpreters))
        survey.murky.extend(found.murky)
        survey.unseen.extend(found.unseen)
        here = None if found.moves else command.here
        scripts.extend((write_marks(script), here) for script in found.scripts)
        for argv in found.commands:
            survey.candidates.append(
                Candidate(tuple(argv), command.here if argv is found.commands[0] else here, command)
            )
            _note_argv(argv, survey.texts)
            known = next((at for at, word in enumerate(argv) if at and found.is_open(word)), None)
            if known is not None:
                survey.beginnings.update({f"{text} ": None for text in list_ways_to_say(argv[:known])})
    if not listens and not interpreters:
        return scripts
    fed = list(_fed(reading))
    for name in interpreters:
        scripts.extend((script, None) for text in fed for script in _find_in_code(text, name))
    return [*scripts, *((script, None) for script in fed)] if listens else scripts


def _find_in_code(text: str, interpreter: str) -> Iterator[str]:
    from everturn.permissions.shell.running.foreign_code import find_shell_calls
    from everturn.permissions.shell.running.scripts import find_option_scripts

    yield from find_shell_calls(text, interpreter)
    yield from find_option_scripts(interpreter, [text])


def _fed(reading: Reading) -> Iterator[str]:
    """What a shell in this line may read: heredocs, here-strings, and what is said into a pipe."""
    yield from reading.fed
    for command in reading.commands:
        words = strip_wrappers(command.words)
        if words[0].template in _SPEAKERS:
            said = [write_marks(word.template) for word in words[1:]]
            yield from dict.fromkeys((" ".join(said), *said[:_MAX_SAID]))


def _spellings(command: Command) -> list[str]:
    text = command.text
    spelled = [text]
    if command.assignments:
        spelled.append(" ".join([*(each.word.raw for each in command.assignments), text]))
    stripped = strip_wrappers(command.words)
    if stripped is not command.words:
        spelled.append(join_words(stripped).removesuffix(f" {UNKNOWN}"))
    return spelled


def _note_argv(argv: list[str], texts: dict[str, None]) -> None:
    texts.update(dict.fromkeys(list_ways_to_say(argv)))


def list_ways_to_say(argv: list[str]) -> Iterator[str]:
    """For rules: as it is, by the bare name, and without the options before a subcommand (`git -C x push` is a push)."""
    text = drop_marks(" ".join(argv)).strip(" ")
    yield text
    if "/" in argv[0]:
        yield basename(argv[0]) + text[len(drop_marks(argv[0])) :]
    if len(argv) > 1 and argv[1].startswith("-"):
        yield drop_marks(" ".join([basename(argv[0]), *skip_options(argv[1:])])).strip(" ")


def _redirects_of(targets: list[tuple[str, str]]) -> Iterator[Redirect]:
    for operator, path in dict.fromkeys(targets[:_MAX_WORDS]):
        if drop_marks(path) == path and "<<" not in operator:
            yield Redirect(operator=operator, target=Word(raw=path, value=path, template=path), here=None)


def _look_closer(command: str, survey: Survey, depth: int = 0) -> None:
    """Without the parser: everything that may be a command there."""
    from everturn.permissions.shell.reading.sketch import scatter_commands, sketch_commands

    sketched = sketch_commands(command)
    if survey.reading.broken:
        survey.redirects.extend(_redirects_of(sketched.targets))
    for words in sketched.commands:
        found = find_inner_words(words)
        for argv in found.commands:
            survey.candidates.append(Candidate(tuple(argv[:_MAX_WORDS]), None))
            _note_argv(argv, survey.texts)
        if depth < _MAX_DEPTH:
            for script in found.scripts[:_MAX_SCRIPTS]:
                _look_closer(write_marks(script[:_MAX_TEXT]), survey, depth + 1)
    for words in scatter_commands(command):
        _note_argv(words, survey.suspicions)
        for argv in find_inner_words(words).commands:
            _note_argv(argv, survey.suspicions)
