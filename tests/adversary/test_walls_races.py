"""Two sessions in one folder, as root and as an ordinary user: what one changes while the other runs leads neither of them out, and forges nothing."""

from contextlib import closing
from threading import Event, Thread

import pytest
from tests.adversary.conftest import Walls, list_worlds
from tests.adversary.house import Worker

EDITS = {"forced": {"writes": True, "uses_git": True}}
READS = {"forced": {"writes": False, "uses_git": True}}
SWAPS = "while [ ! -e stop ]; do ln -sfn {one} x; ln -sfn {other} x; rm -f x; mv keep x; mv x keep; done 2>/dev/null"
MAKES = ".git/config.worktree"
ROUNDS = 4
RACES = {
    "readers": (READS, "../outside", "sub", ["cat x/secret", "cat x/*", "grep -rs . x/", "cd x && cat secret"]),
    "edits": (EDITS, "../outside", "sub", ["echo x > x/marker", "cp a.txt x/marker", "rm -rf x/deep", "mkdir -p x/made"]),
    "protected paths": (EDITS, ".everturn", ".git", ["echo x > x/settings.json", "rm -rf x/config", "cp a.txt x/config", "mkdir -p x/y"]),
}  # fmt: skip


@pytest.fixture(params=list_worlds("edits"))
def two(request, worker_room):
    """A folder and two sessions."""
    user = request.param.partition(" as ")[2]
    with closing(Worker(user, worker_room)) as one, closing(Worker(user, worker_room)) as other:
        walls = Walls("edits", user, one)
        (walls.work / "sub").mkdir()
        (walls.work / "keep").mkdir()
        walls.settle()
        yield walls, one, other
        walls.close()


def beside(walls, worker, command):
    """The other session runs it until there is a file `stop`."""

    def run():
        while not (walls.work / "stop").exists():
            worker.do(walls.job(EDITS, [{"command": command, "timeout": 4_000}]))

    thread = Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("race", RACES)
def test_names_that_the_other_session_swaps_lead_nowhere(two, race):
    walls, worker, opponent = two
    policy, one, other, commands = RACES[race]
    before, config = walls.picture(), (walls.work / ".git" / "config").read_bytes()
    thread = beside(walls, opponent, SWAPS.format(one=one, other=other))
    try:
        answer = worker.do(walls.job(policy, [{"command": each, "timeout": 4_000} for each in commands * ROUNDS]))
    finally:
        (walls.work / "stop").touch()
        thread.join()

    assert walls.token not in str(answer["results"])
    assert walls.picture() == before
    assert (walls.work / ".git" / "config").read_bytes() == config
    assert (walls.work / ".everturn" / "settings.json").read_text() == "{}"


@pytest.mark.parametrize("closing_first", ["", "chmod 300 .; "], ids=["open", "closed meanwhile"])
def test_what_one_session_has_not_yet_put_in_order_the_other_does_not_take_for_the_persons(two, closing_first):
    walls, worker, opponent = two
    waits = "for i in $(seq 100); do [ -e began ] && break; sleep 0.01; done"
    follows = f"for i in $(seq 100); do [ -e {MAKES} ] || break; sleep 0.01; done"

    over = Event()

    def follow():
        while not ((walls.work / MAKES).exists() or over.is_set()):
            pass
        opponent.do(walls.job(EDITS, [f": > began; {follows}"]))

    thread = Thread(target=follow)
    thread.start()
    worker.do(walls.job(EDITS, [f"{closing_first}echo x > {MAKES}; {waits}"]))
    over.set()
    thread.join()

    assert (walls.work / "began").exists()
    assert not (walls.work / MAKES).exists()
