"""Runs the checks and shows what they found; exit code 1 if something a run needs is missing."""

import os
from collections.abc import Iterator

from everturn.cli.console import flush, render_json, write
from everturn.cli.doctor import machine
from everturn.cli.doctor.finding import DoctorReport, Finding, FindingState, warn
from everturn.cli.doctor.model import check_key, check_model, check_settings
from everturn.cli.syntax import JSON, Arguments
from everturn.core.state import Exit
from everturn.settings.options import Options
from everturn.settings.program_files import program_home
from everturn.settings.setup import Setup


def run_doctor(asked: Arguments) -> int:
    findings: list[Finding] = []
    for finding in run_checks():
        findings.append(finding)
        if JSON.name not in asked:
            # As they come: asking the model may take a while.
            write(render_finding(finding))
            flush()
    is_well = all(finding.state is not FindingState.FAIL for finding in findings)
    if JSON.name in asked:
        write(render_json(DoctorReport(ok=is_well, checks=tuple(findings)), indent=2) + "\n")
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
        if key.state is FindingState.OK:
            yield check_model(launch)
        else:
            yield warn("model", "not asked: there is no key", "Set the key first.")
    setup, options = (launch.setup, launch.options) if launch is not None else (None, None)
    folders = list_folders(setup)
    yield machine.check_git(folders)
    yield machine.check_ripgrep(folders)
    yield machine.check_shell(folders)
    yield from check_confinement(options, folders)
    yield machine.check_terminal(env)


def check_confinement(options: Options | None, folders: tuple[str, ...]) -> Iterator[Finding]:
    """What holds commands here."""
    wanted = options.sandbox if options is not None else None
    sandbox = {"enabled": True} if wanted is True else wanted or {}
    yield machine.check_holding(sandbox, folders)
    yield machine.check_sandbox(sandbox, folders)


def list_folders(setup: Setup | None) -> tuple[str, ...]:
    """Those that a run here works in: no program of theirs is started."""
    here = os.path.realpath(os.curdir)
    added = (*setup.written.permissions.paths, *setup.options.add_dirs) if setup is not None else ()
    places = (os.path.join(here, os.path.expanduser(each)) for each in added)  # noqa: PTH111, PTH118 - paths as text
    return tuple(dict.fromkeys((here, *map(os.path.realpath, places))))


def render_finding(finding: Finding) -> str:
    line = f"{finding.state:<5} {finding.name:<9} {finding.detail}\n"
    return f"{line}{'':<16}{finding.mend}\n" if finding.mend else line
