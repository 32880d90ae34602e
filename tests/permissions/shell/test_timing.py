"""Judging takes no time that anybody would notice, whatever the text: measured in CPU time, on shapes that hurt parsers."""

import statistics
import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pace import slowness
from tests.permissions.shell.worlds import judge, load_cases, make_world, parse_rules

from everturn.permissions.rules.rule import Rule, RuleSet
from everturn.permissions.shell.judge import judge_command
from everturn.ports.policy import Ruling

CORPUS = Path(__file__).parents[2] / "corpora" / "bash_bypass.jsonl"
RULES = parse_rules(
    {
        "allow": ["Bash(ls:*)", "Bash(* x)"],
        "deny": ["Bash(rm:*)", "Bash(git * --force)", "Read(./.env)"],
        "ask": ["Bash(a b *)"],
    }
)
WORLD = make_world(RULES)
SHAPES = [
    "(", "((", "$(", "$((", "{", "{ ", "[[ ", "[", "<<<", "<<E\n", "<<E ", "\\", '"', "'", "`", "${", "a ", "a;", "a|", "a&&", "a\n", "$a", "$a ",
    '"$a" ', "a=1 ", ">", "> a ", ">&", "& ", "!", "! ", "if a; then ", "case a in ", "for i in a; do ", "while ", "a() ", "f(){ ", "#", "# \n",
    "*", "{a,", "$[", "<(", ">(", "((a", "[[ a && ", "[[ a =~ ", "=~ ", "a[", "a[1]=", "${a:-", "${a[", '"${', '"$(', "`a ", "\\`", "time ", '$"',
    "$'", "@(", "+(", "?(", "a=(", "==", "-", "1 ", "~", "é", "é ", "\0", "\r", "a\\\n", "function f ", "coproc ", "select a in ", "done ", "fi ", ";;",
    ";", "|", "&", "a <<A <<B ", "cat <<EOF\n$(", "$((a[", "(( ", "declare a=", "[ a ", "((1+", "$((1?", "$((a=(", "x{", "}", ")", "))", "]]", "{1..",
    "\u200b", '"a$', "$(<", "({", "{(", "[[(", "[[ ! ", "!(", "rm x;", "sudo ", "env ", "sh -c ", "eval ", "xargs ", "cat x ", "cd x;", "cd x && ",
    "x=$x$x; ", "x=a; for i in 1 2; do x=$x$i; ", "a=1 && ", "((i++)); ", "i=$((i+1)); ", "cat $(find .); ", "for f in *; do cat $f; ", "sort *; ", "ls {a,b,c}*; ",
    "case a in a) ", "while read x; do ", "[[ $x == a* ]] && ", "x=${x:-a}; ", "`ls`; ", "timeout 5 ", "../", "cat a/b/c* ", "a é;", "'$(a)' ", 'echo "a" ',
]  # fmt: skip
MAX_S = 0.1


def cpu_seconds(command, rules=RULES, world=WORLD, rounds=3):
    """The best of some rounds: others use the machine, too."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        judge_command(command, rules, world)
        best = min(best, time.process_time() - began)
        if best < MAX_S / 4:
            break
    return best


def test_half_of_the_corpus_takes_less_than_half_a_millisecond():
    judge("ls")

    median = statistics.median(cpu_seconds(case["command"]) for case in load_cases(CORPUS))

    assert median / slowness() < 0.000_5


@pytest.mark.parametrize("length", [800, 10_000, 10_001, 131_072])
def test_no_shape_takes_long(length):
    judge("ls")

    times = {shape: cpu_seconds((shape * length)[:length]) for shape in SHAPES}

    most = MAX_S * slowness()
    assert {shape: seconds for shape, seconds in times.items() if seconds > most} == {}
    # The figure for 10,000 characters, held by the middle one: a single shape may meet a busy machine.
    assert length > 10_001 or statistics.median(times.values()) / slowness() < 0.02


@pytest.mark.parametrize(
    "command",
    [
        "test " + "[" * 131_000,
        "test " + "a[$(" * 30_000,
        "test a[" + "`" * 9_000,
        "xargs -I" + "a" * 5_000 + " a" * 900,
        "python3 -c '" + "run[" * 2_490 + "'",
        "perl -e '" + ";1" * 4_990 + "'",
        "node - <<'E'\n" + "exec " * 1_990 + "\nE",
        "awk '" + '{a|"b' * 1_900 + "'",
        "awk '{" + "/a|" * 3_000 + "'",
        "sed '" + "s/a/b/;" * 1_300 + "e x'",
        "perl -e '" + "open " * 1_980 + "'",
        "env " + "-S " * 3_000,
        "./a;" * 2_400,
        "cat <<'A'" + " " * 9_900 + "(",
        "cat " + "<<'A' " * 20 + "(\n" + "A\n" * 4_000,
    ],
    ids=[
        "brackets",
        "subscripts",
        "backticks",
        "placeholders",
        "lists",
        "semicolons",
        "calls",
        "pipes",
        "patterns",
        "commands",
        "opens",
        "splits",
        "paths",
        "blanks",
        "heredocs",
    ],
)
def test_no_word_takes_long(command):
    assert cpu_seconds(command) / slowness() < MAX_S


def test_ten_thousand_characters_of_everyday_commands_take_less_than_twenty_milliseconds():
    line = "npm run build --workspace packages/api 2>&1 | tail -20 && "
    message = "git commit -m '" + "A sentence of a long message; with $(signs) in it.\n" * 190 + "'"

    most = 0.02 * slowness()
    assert cpu_seconds((line * 200)[:9_990].rsplit(" && ", 1)[0], rounds=5) < most
    assert cpu_seconds(message, rounds=5) < most
    assert cpu_seconds("cat <<'EOF'\n" + "if (a && b) { c(d[e]); }\n" * 390 + "EOF", rounds=5) < most


def test_ten_thousand_rules_and_a_pattern_of_a_megabyte_are_no_burden():
    forms = ("tool{0}:*", "tool{0} x", "a{0} * b", "* x{0}", "z{0}*")
    rules = RuleSet(
        [Rule(ruling=Ruling.DENY, tool="Bash", specifier=forms[i % len(forms)].format(i)) for i in range(10_000)]
        + [Rule(ruling=Ruling.DENY, tool="Bash", specifier="*a" * 500_000)]
    )
    world = make_world(RuleSet())
    judge_command("ls", rules, world)

    most = MAX_S * slowness()
    assert cpu_seconds("; ".join(f"tool{i} q" for i in range(20_000, 20_250)), rules, world) < most
    assert cpu_seconds("a" * 9_000, rules, world) < most


PIECES = st.sampled_from([*SHAPES, *string.punctuation, " ", "\n", "a", "b c", "EOF\n"])


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12), st.integers(1, 3_000), st.text(max_size=20))
def test_no_mixture_of_shapes_takes_long_or_raises(pieces, times, end):
    seconds = cpu_seconds(("".join(pieces) * times)[:12_000] + end)

    assert seconds < MAX_S or seconds / slowness() < MAX_S
