"""A standing adversary: thousands of lines, judged by the real policy; whatever runs unasked runs for real, and is watched."""

import os
import shutil
import tempfile
from pathlib import Path
from random import Random, SystemRandom

import pytest
from tests.adversary.grammar import Grammar
from tests.adversary.house import USERS, House, Worker
from tests.adversary.repository import CANARY, build
from tests.adversary.watching import Held, before, find_breaches

COUNT = int(os.environ.get("EVERTURN_ADVERSARY", "1000"))
"""Commands that really run, in all tests with strace together; `make fuzz` takes more, with new seeds."""
IS_REPEATED = os.environ.get("EVERTURN_EXAMPLES", "test") == "test"
SEED = os.environ.get("EVERTURN_ADVERSARY_SEED", "")
"""To play again what a failure has told."""
BATCH = 150
MAX_JOBS = 400
DENIED = "data.json"
PLAYS = {
    "landlock": (0.3, {"mode": "default"}, "", "Landlock"),
    "landlock, not trusted": (0.15, {"mode": "default", "trusted": False}, "", "Landlock"),
    "edits": (0.15, {"mode": "acceptEdits"}, "", "bubblewrap"),
    # The wall alone: every line runs, also those that close folders. It may start programs of the folder, inside of the wall.
    "edits, not judged": (0.15, {"forced": {"writes": True, "uses_git": True}}, "", "bubblewrap"),
    "bubblewrap": (0.1, {"mode": "default"}, "landlock", "bubblewrap"),
    "nothing holds": (0.1, {"mode": "default"}, "off", None),
    # What would ask runs held first: whatever it is.
    "tried": (0.1, {"mode": "default", "tries": True}, "", "Landlock"),
    # What a rule allows may do what it can: these can do nothing but be given globs.
    "with rules": (0.05, {"mode": "default", "allow": ["Bash(true:*)", "Bash(dirname:*)", "Bash(expr:*)", "Read(//etc/hostname)"], "deny": [f"Read(./{DENIED})"]}, "", "Landlock"),
}  # fmt: skip
"""Each with its share, the policy, what is passed over and what it needs."""
KINDS = {
    "landlock": ("plain", "programs", "alternates", "promisor"),
    "landlock, not trusted": ("plain", "programs", "pointing", "bare"),
}


class Play:
    """Some houses and a grammar, for a worker."""

    def __init__(self, name, user, seed):
        self.name, self.user = name, user
        self.share, self.policy, self.without, _ = PLAYS[name]
        self.random = Random(seed)  # noqa: S311 - a seed that can be played again
        self.room = Path(tempfile.mkdtemp(prefix="adversary-room-", dir="/tmp")).resolve()
        self.room.chmod(0o777)
        self.houses, self.cases, self.may = [], {}, {}
        self.ran = 0
        self.is_forced = "forced" in self.policy

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for house in self.houses:
            house.close()
        shutil.rmtree(self.room, ignore_errors=True)

    def run_watched(self, count, log):
        """By a worker in front of which something watches."""
        worker = Worker(self.user, self.room, before(log))
        try:
            self.run(count, worker)
        finally:
            worker.close()

    def run(self, count, worker):
        for number in range(MAX_JOBS):
            if self.ran >= count:
                break
            self.run_job(worker, f"job{number}", min(BATCH, count - self.ran))

    def run_job(self, worker, name, most):
        house, objects = self.move_in()
        grammar = Grammar(
            self.random,
            objects,
            odd=self.random.choice((0.02, 0.1, 0.3)),
            edits=0.7 if self.name.startswith("edits") else 0.05,
            closes=0.5 if self.is_forced else 0.1,
            bare=self.name == "nothing holds",
        )
        lines = list(dict.fromkeys(grammar.line() for _ in range(most * 4)))
        answer = worker.do(
            house.job(
                self.policy,
                [{"command": line, "timeout": 2_000} for line in lines],
                name=name,
                without=self.without,
                probes=True,
                most=most,
                kept=house.kept,
            )
        )
        self.may[name] = {}
        for number, (line, result) in enumerate(zip(lines, answer["results"], strict=False)):
            if "content" in result:
                self.ran += 1
                self.cases[name, number] = (line, result, house)
                may = Held(house, self.room, answer["walls"]["programs"], result["held"])
                may.lists = "allows it" in result["reason"]
                may.starts = self.is_forced
                may.hidden = (str(house.work / DENIED),) if "deny" in self.policy else ()
                self.may[name][number] = may

    def move_in(self):
        house = House(self.user)
        self.houses.append(house)
        objects = build(house, self.random.choice(KINDS.get(self.name, ("plain",))))
        house.settle()
        house.keep()
        return house, objects

    def find_troubles(self, log=None):
        """By line: what it did that it may not."""
        told = {}
        breaches = find_breaches(log, self.may) if log else {}
        for key, (line, result, house) in self.cases.items():
            troubles = []
            if house.token in result["content"].replace(
                f"{house.token}-variable", "" if not result["held"] else house.token
            ):
                troubles.append("the secret was told")
            if CANARY in result["content"] and not self.is_forced:
                troubles.append("a program of the folder ran")
            troubles += [f"changed: {path}" for path in result["changed"]]
            troubles += [f"the next command: {result['forged']}"] if result["forged"] else []
            # What is worst comes first: of sockets each shell makes some.
            troubles += sorted(breaches.get(key, ()), key=lambda told: told.startswith("reached"))
            if troubles:
                told[line] = troubles[:6]
        return told


def choose_seed(number):
    if SEED:
        return int(SEED)
    return number if IS_REPEATED else SystemRandom().randrange(2**32)


def list_plays():
    return [
        pytest.param(name, user, marks=[pytest.mark.needs(need)] if need else [], id=f"{name} as {user}")
        for name, (*_, need) in PLAYS.items()
        for user in USERS
    ]


@pytest.mark.needs("strace as root")
@pytest.mark.parametrize(("name", "user"), list_plays())
def test_whatever_runs_unasked_reads_writes_starts_and_reaches_nothing_that_it_may_not(name, user, tmp_path):
    seed = choose_seed(7)
    with Play(name, user, seed) as play:
        count = max(10, round(COUNT * play.share / len(USERS)))

        play.run_watched(count, tmp_path / "calls")

        assert (seed, play.find_troubles(tmp_path / "calls")) == (seed, {})
        assert play.ran >= count, "too few lines run unasked for the test to mean something"


@pytest.mark.parametrize(("name", "user"), list_plays())
def test_whatever_runs_unasked_leaves_nothing_and_tells_no_secret(name, user, workers):
    """As above, on machines that have no strace: by what can be seen afterwards."""
    seed = choose_seed(11)
    with Play(name, user, seed) as play:
        play.run(max(5, round(COUNT * play.share / len(USERS) / 10)), workers(user))

        assert (seed, play.find_troubles()) == (seed, {})


@pytest.mark.needs("strace as root", "Landlock")
def test_the_same_lines_do_harm_where_judgement_is_alone(tmp_path):
    """Else the wall would be there for nothing, and so would the tests above."""
    with Play("landlock", next(iter(USERS)), 7) as play:
        play.policy = {**play.policy, "frees": True}

        play.run_watched(150, tmp_path / "calls")

        told = [trouble for troubles in play.find_troubles(tmp_path / "calls").values() for trouble in troubles]
        assert "the secret was told" in told
        assert any(trouble.startswith("read: ") for trouble in told)
