"""What judging a command costs, in CPU time: the corpus, 10,000 characters of many shapes, and the longest inputs."""

from tests.permissions.shell.test_timing import CORPUS, SHAPES, cpu_seconds
from tests.permissions.shell.worlds import judge, load_cases

from bench.aims import Found, Scale

KILO = 1_000
LONG, MAX_LENGTH = 10_000, 131_072


def measure(scale: Scale) -> Found:
    """The best of three each time: what is asked is what judging takes, not what else the machine does."""
    judge("ls")
    commands = [case["command"] for case in load_cases(CORPUS)][:: max(1, round(1 / scale.size))]
    shapes = SHAPES[:: max(1, round(1 / scale.size))]
    return {
        "judging": [cpu_seconds(command) * KILO for command in commands],
        "judging_long": [cpu_seconds((shape * LONG)[:LONG]) * KILO for shape in shapes],
        "judging_worst": [cpu_seconds((shape * MAX_LENGTH)[:MAX_LENGTH]) * KILO for shape in shapes],
    }
