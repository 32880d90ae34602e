"""Runs the checks and shows what they found; exit code 1 if something a run needs is missing."""

import os
from collections.abc import Iterator, Sequence

from everturn.cli.console import flush, write
from everturn.cli.doctor import machine
from everturn.cli.doctor.finding import Finding, State, warn
from everturn.cli.doctor.model import check_key, check_model, check_settings
from everturn.cli.json_output import render_json
from everturn.cli.usage import UsageError
from everturn.compose.cli import program_home
from everturn.core.state import Exit
from everturn.settings.checks import nearest
from everturn.settings.options import Options

FLAGS = ("--json", "--help", "-h")


def run_doctor(words: Sequence[str]) -> int:
    for word in words:
        if word not in FLAGS:
            raise UsageError(f"doctor knows no {word!r}{nearest(word, FLAGS)}", see="everturn doctor --help")
    if "--help" in words or "-h" in words:
        from everturn.cli.help import DOCTOR

        write(DOCTOR)
        return Exit.OK
    findings: list[Finding] = []
    for finding in run_checks():
        findings.append(finding)
        if "--json" not in words:
            # As they come: asking the model may take a while.
            write(render_finding(finding))
            flush()
    is_well = all(finding.state is not State.FAIL for finding in findings)
    if "--json" in words:
        write(render_json({"ok": is_well, "checks": findings}, indent=2) + "\n")
    return Exit.OK if is_well else Exit.ERROR


def run_checks() -> Iterator[Finding]:
    env = os.environ
    home = program_home(env)
    yield machine.check_versions()
    settings, launch = check_settings(home, env)
    yield settings
    yield machine.check_home(home)
    if launch is not None:
        key = check_key(launch)
        yield key
        if key.state is State.OK:
            yield check_model(launch)
        else:
            yield warn("model", "not asked: there is no key", "Mend the key first.")
    folders = list_folders(launch.options if launch is not None else None)
    yield machine.check_git(folders)
    yield machine.check_ripgrep(folders)
    yield machine.check_shell(folders)
    wanted = launch.options.sandbox if launch is not None else None
    sandbox = {"enabled": True} if wanted is True else wanted or {}
    yield machine.check_holding(sandbox, folders)
    yield machine.check_sandbox(sandbox, folders)
    yield machine.check_terminal(env)


def list_folders(options: Options | None) -> tuple[str, ...]:
    """Those that a run here works in: no program of theirs is started."""
    here = os.path.realpath(os.curdir)
    added = (*options.additional_directories, *options.add_dirs) if options is not None else ()
    places = (os.path.join(here, os.path.expanduser(each)) for each in added)  # noqa: PTH111, PTH118 - paths as text
    return tuple(dict.fromkeys((here, *map(os.path.realpath, places))))


def render_finding(finding: Finding) -> str:
    line = f"{finding.state:<5} {finding.name:<9} {finding.detail}\n"
    return f"{line}{'':<16}{finding.mend}\n" if finding.mend else line
