"""The world that the cases of the corpora assume, with the real rules and the real paths room."""

import json
from contextlib import suppress
from functools import partial
from pathlib import Path

from everturn.permissions.judgement import JudgedWorld
from everturn.permissions.paths.judge import FileJudge
from everturn.permissions.rules.rule import RuleSet
from everturn.permissions.rules.rule_parser import RuleProblem, parse_rule
from everturn.permissions.shell.judge import judge_command
from everturn.ports.holding import KnownWalls
from everturn.ports.policy import Ruling

CWD = "/home/dev/proj"
HOME = "/home/dev"
HELD = KnownWalls(reads=True, edits=True)
"""A machine with both walls."""


def load_cases(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def parse_rules(rules):
    """What cannot be a rule is left out, as the loader does."""
    parsed = []
    for ruling, texts in rules.items():
        for text in texts:
            with suppress(RuleProblem):
                parsed.append(parse_rule(text, Ruling(ruling), folder=CWD))
    return RuleSet(parsed)


def make_world(rules, mode="default", cwd=CWD, walls=HELD):
    files = FileJudge(rules, folders=(CWD,), home=HOME)
    return JudgedWorld(
        cwd=cwd,
        home=HOME,
        folders=(CWD,),
        mode=mode,
        trusted=True,
        find_protected=files.find_protected,
        judge_file=partial(_judge_file, files, mode, cwd),
        walls=walls,
    )


def judge(command, rules=None, mode="default", given=None, cwd=CWD):
    parsed = rules if isinstance(rules, RuleSet) else parse_rules(rules or {})
    return judge_command(command, parsed, make_world(parsed, mode, cwd), input=given)


def _judge_file(files, mode, cwd, use, path):
    return files.judge(use, path, mode, cwd=cwd)
