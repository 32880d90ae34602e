"""Whether a goal's command said the same again: times, durations, addresses and temporary paths do not count, counts always do."""

import pytest

from everturn.core.goals import digest_output, is_stuck

FOLDER = "/tmp/work/project"


def digest(text, ended="with exit code 1"):
    return digest_output(text, folder=FOLDER, ended=ended)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("====== 3 failed, 281 passed in 13.17s =====", "====== 3 failed, 281 passed in 9.3s ======"),
        ("3 failed in 61.20s (0:01:01)", "3 failed in 74.01s (0:01:14)"),
        ("Ran 3 tests in 0.004s", "Ran 3 tests in 1.250s"),
        ("test result: FAILED. finished in 0.01s", "test result: FAILED. finished in 0.20s"),
        ("--- FAIL: TestSum (0.02s)", "--- FAIL: TestSum (0.00s)"),
        ("Time:        1.234 s, estimated 2 s", "Time:        0.98 s, estimated 2 s"),
        ("  1) adds (12ms)", "  1) adds (7ms)"),
        ("real\t0m1.283s", "real\t1m0.004s"),
        ("<engine object at 0x7f03b5915f10>", "<engine object at 0x55d2c4adbda50>"),
        ("[2026-11-19T15:44:37.914Z] failed", "[2026-11-20T01:02:03.000Z] failed"),
        ("2026-11-19 15:44:37,914 ERROR", "2026-11-19 15:44:48,855 ERROR"),
        ("AssertionError: 1795103077.9149766", "AssertionError: 1795103088.8554"),
        ('{"at": 1795103077914}', '{"at": 1795103088855}'),
        ("PosixPath('/tmp/pytest-of-ada/pytest-152/test_a0')", "PosixPath('/tmp/pytest-of-ada/pytest-154/test_a0')"),
        ("'/tmp/pytest-...152/test_a0' == 'x'", "'/tmp/pytest-...154/test_a0' == 'x'"),
        ("/private/var/folders/x1/T/a.sock", "/private/var/folders/y2/T/b.sock"),
    ],
)
def test_what_differs_from_run_to_run_by_itself_does_not_count(first, second):
    assert digest(first) == digest(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("3 failed, 281 passed in 13.17s", "2 failed, 282 passed in 13.17s"),
        ("test_a.py:12: AssertionError", "test_a.py:13: AssertionError"),
        ("FAILED test_a", "FAILED test_b"),
        (f"{FOLDER}/a.py: error", f"{FOLDER}/b.py: error"),
        ("expected 1795103077 rows", "expected 1795103078 rows"),
        ("left: 12", "left: 1"),
        ("", "x"),
    ],
)
def test_everything_else_counts(first, second):
    assert digest(first) != digest(second)


def test_how_the_command_ended_counts():
    assert digest("same", "with exit code 1") != digest("same", "with exit code 2")


@pytest.mark.parametrize(
    ("digests", "stuck"),
    [("", False), ("aa", False), ("aaa", True), ("aab", False), ("baaa", True), ("aaab", False), ("aabaa", False)],
)
def test_three_of_a_kind_at_the_end_are_stuck(digests, stuck):
    assert is_stuck(tuple(digests)) is stuck
