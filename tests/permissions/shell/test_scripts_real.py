"""Scripts of sed and awk that we say only print, in the real programs: random ones, of pieces that are easily misread."""

import os
import shutil
import subprocess
from random import Random, SystemRandom

import pytest
from tests.permissions.shell.real.tracing import run_traced

from everturn.permissions.shell.readonly import awk, jq, sed_script

IS_REPEATED = os.environ.get("EVERTURN_EXAMPLES", "test") == "test"
SEED = 1 if IS_REPEATED else SystemRandom().randrange(2**32)
RUNS = 300 if IS_REPEATED else 5_000
SED_PIECES = (
    "s/a/b/", "s/a/b/g", "s|[|]|x|", "s/[/]/x/", "s/[a]/x/", "y/ab/cd/", "/a/", "/a/,/b/", "\\,a,", "1", "$", "1,3", "0~2", ",+1", "!", "p", "d",
    "q", "n", "N", "D", "G", "h", "x", "=", "l", "F", "z", "{", "}", "b", "t", ":a", "ba", "a text", "i\\", "a\\", "c x", "w w", "w", "e", "e id",
    "r 1", "R 1", "W w", "s/a/b/w w", "s/a/b/e", ";", "\n", "\\\n", " ", "/", "\\", "[", "]", "#", "#x", "I", "M", "0", "[^]]", "[[:a:]]", "&", "s", "y",
    "sxaxbx", "s,a,b,",
)  # fmt: skip
AWK_PIECES = (
    "{", "}", "print", "print $1", "$1", "NF", "NR", "FS", "x", "y", "1", "0.5", '"a"', '"w"', '"/"', '"', "/", "/a/", "/[/]/", "/\\//", "==", "=", "~", ">",
    ">>", "|", "||", "&&", "!", "(", ")", "[", "]", ",", ";", "\n", " ", "getline", "system", 'system("touch w")', '"touch w"', '| "sh"', '> "w"',
    "BEGIN", "END", "if (x)", "for (k in x)", "while (0)", "ENVIRON", "ARGV", 'ARGV[1]="../c1"', "length", "substr($1, 1)", "printf", "function",
    "close", "@include", "#", "\\", "+", "-", "*", "%", "?", ":", "++", "sub(/a/, x)", "in", "$", "print > x",
)  # fmt: skip


def write_accepted(pieces, is_plain):
    """Different scripts that we take for plain, and no others."""
    random = Random(SEED)  # noqa: S311 (a seed that can be played again)
    accepted = {}
    for _ in range(RUNS * 200):
        script = "".join(random.choices(pieces, k=random.randint(1, 7)))
        if is_plain(script):
            accepted[script] = None
            if len(accepted) >= RUNS:
                break
    assert len(accepted) >= RUNS / 2, "too few for the test to mean something"
    return list(accepted)


def test_sed_itself_finds_nothing_that_writes_reads_or_runs_in_a_plain_script():
    sed = shutil.which("sed")

    found = {}
    for script in write_accepted(SED_PIECES, sed_script.is_plain_script):
        done = subprocess.run([sed, "--sandbox", "-e", script], input=b"", capture_output=True, check=False, timeout=60)
        if b"sandbox" in done.stderr:
            found[script] = done.stderr

    assert found == {}, SEED


@pytest.mark.needs("strace")
def test_awk_opens_writes_and_starts_nothing_in_a_plain_program(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "c1").write_text("x\n")
    (work / "1").write_text("a b\n")
    programs = write_accepted(AWK_PIECES, awk.is_plain_program)

    traces = run_traced([("awk", program, "1") for program in programs], work, tmp_path, tmp_path / "log")

    faults = {
        program: (trace.wrote, trace.started[1:], trace.opened)
        for program, trace in zip(programs, traces, strict=True)
        if trace.wrote or trace.started[1:] or "../c1" in trace.opened
    }
    assert faults == {}, SEED


PLAIN_SED = [
    "p", "1p", "$d", "/a/,/b/p", "/a/I,+3p", "1~2d", "0,/x/s//y/", "2!d", "5q", "10,20p;30q", "s/a/b/gI", "s|/a|/b|", "/a/{s/b/c/;p}", "/x/!{d}",
    ":a;N;$!ba;s/\\n/ /g", "y/abc/xyz/", "1i header", "$a\\ footer", "/a/c new", "s/[[:space:]]*$//", "s/[^]]/x/", "\\,/usr,d", "G;h", "/a/{n;d}",
    "$!N;$!D", "s/a/b/;ta;d;:a", "p # comment", "=", "l 5", "q1", "s/a/\\\nb/", "/a/{\np\n}", "z", "F",
]  # fmt: skip
OTHER_SED = [
    "", "w x", "1w x", "s/a/b/w x", "s/a/b/e", "e", "1e id", "r x", "R x", "W x", "s/a/b/gw x", "/a/{w x\n}", "p;w x", "p\nw x", "s/a", "s/[/]/x/", "{p",
    "p}", "a\\\ntext\nw x", "i\\", ":a;s/x/\\\nw f/", "v", "s/a/b/;e id", "1,2", "s\na\nb\n", "sxaxbx", "/a/w x", "y/a/b/w x", "$!w x", "b;w x",
]  # fmt: skip


@pytest.mark.parametrize("script", PLAIN_SED)
def test_a_script_of_sed_that_only_prints_is_plain_and_sed_takes_it(script):
    done = subprocess.run(["sed", "--sandbox", script], input=b"a\nb\n", capture_output=True, check=False, timeout=60)

    assert sed_script.is_plain_script(script)
    assert b"-e expression" not in done.stderr


@pytest.mark.parametrize("script", OTHER_SED)
def test_any_other_script_of_sed_is_not_plain(script):
    assert not sed_script.is_plain_script(script)


@pytest.mark.parametrize(
    "program",
    [
        "{print $1}", "{print $NF}", "{print $(NF-1), NR}", "NR==1", "NR>1 {print}", "/a/{print $2}", "!/a/", "$3 > 5", '$1 == "a" {print $2}', "!seen[$0]++",
        "{s += $1} END {print s, s/NR}", 'BEGIN{FS=":"; OFS="\\t"} {print $1,$2}', '{printf "%s %d\\n", $1, $2}', "{if ($1 > 2) print $2; else print $1}",
        "{for (i=1; i<=NF; i++) n[$i]++} END{for (k in n) print k, n[k]}", "length($0) > 80", '{gsub(/a/, "b"); print}', "$1 ~ /^x/ && $2 !~ /y$/",
        "END{print NR}", "{print substr($1, 2), toupper($2)}", "", "{print $1/1024}",
    ],
)  # fmt: skip
def test_a_program_of_awk_that_computes_and_prints_is_plain(program):
    assert awk.is_plain_program(program)


@pytest.mark.parametrize(
    "program",
    [
        '{print > "f"}', '{print $1 >> "f"}', '{print | "sh"}', '{"id" | getline x}', "{getline}", '{getline < "/etc/passwd"}', 'BEGIN{system("id")}',
        'BEGIN{system ("id")}', "{print ENVIRON}", 'BEGIN{ARGV[1]="/etc/passwd"; ARGC=2}', "function f() {}", "{f(1)}", '@include "x"', '{print $1/"/"}',
        '{print (1) > "f"}', '{printf("%s", $1) > "f"}', "{print}#", "{print \\\n$1}", '{close("x")}', '{print PROCINFO["pid"]}', "{", '{print "a}', "}{",
        '{if (1) print > "f"}', 'BEGIN{x="a" > "b"}', "{print > $1}",
    ],
)  # fmt: skip
def test_any_other_program_of_awk_is_not_plain(program):
    assert not awk.is_plain_program(program)


@pytest.mark.parametrize(
    "program",
    [
        ".",
        ".env",
        ".a.include[]",
        "map(.x)|length",
        "keys",
        ".scripts.import",
        ". as $x|$x",
        '"\\(.env)"',
    ],
)
def test_a_program_of_jq_that_computes_is_plain(program):
    assert jq.is_plain_program(program)


@pytest.mark.parametrize(
    "program",
    ["env", "$ENV", "env.HOME", "$ENV.HOME", 'import "a" as a; .', 'include "a"; .', '"a"|modulemeta', "get_search_list", "input_line_number", "[env]", "1.env",
     '"\\(env)"', "a::b", "$__prog_args", "..env"],
)  # fmt: skip
def test_a_program_of_jq_that_reads_more_than_its_input_is_not_plain(program):
    assert not jq.is_plain_program(program)
