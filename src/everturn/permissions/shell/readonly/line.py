"""Whether a whole command line changes nothing. Such a line may run beside others, and a crash while it runs leaves nothing unknown."""

from everturn.permissions.shell.approval.xargs import judge_stage
from everturn.permissions.shell.files.redirect_targets import find_target
from everturn.permissions.shell.reading.assignments import is_safe_assignment
from everturn.permissions.shell.reading.syntax import Command, Redirect
from everturn.permissions.shell.reading.wrappers import strip_wrappers
from everturn.permissions.shell.running.survey import read_command


def only_reads(command: str, cwd: str, home: str) -> bool:
    """Whether it may read these files is another question. One that moves the shell changes where the next one starts."""
    reading = read_command(command, cwd, home)
    if reading.unsure or reading.moves or not reading.commands:
        return False
    before = {id(stage): pipe[:at] for pipe in reading.pipes for at, stage in enumerate(pipe)}
    return not any(map(_writes, reading.redirects)) and all(
        _reads(each, before.get(id(each), ()), home) for each in reading.commands
    )


def _writes(redirect: Redirect) -> bool:
    target = find_target(redirect)
    return target is not None and target.use == "write"


def _reads(command: Command, before: tuple[Command, ...], home: str) -> bool:
    words = strip_wrappers(command.words)
    is_plain = words[0].plain and all(map(is_safe_assignment, command.assignments))
    return is_plain and judge_stage(words, before, home) is not None
