"""A command is read once, however often it is asked about before it runs."""

from everturn.permissions.shell.readonly.line import only_reads
from everturn.permissions.shell.running import survey
from everturn.permissions.shell.running.survey import survey_command


def test_whether_it_only_reads_and_whether_it_may_run_are_judged_by_one_reading():
    before = survey._read.cache_info().misses
    assert only_reads("grep -c one some.txt | sort", "/project", "/home/user")
    survey_command("grep -c one some.txt | sort", "/project", "/home/user")
    assert survey._read.cache_info().misses == before + 1
