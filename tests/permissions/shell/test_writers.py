"""What writes a file is seen in every spelling that the program takes: real programs, and every way to write each of their options."""

import os
import subprocess
from itertools import chain
from random import Random

import pytest
from tests.permissions.shell.test_doubts import EVERY_WAY, rule

from everturn.permissions.shell.files.writers import IN_PLACE, OUTPUTS
from everturn.permissions.shell.reading.syntax import Word
from everturn.permissions.shell.readonly.options import Arity, parse_options
from everturn.permissions.shell.readonly.tables import TABLES
from everturn.permissions.shell.running.option_values import OptionNames, find_values
from everturn.ports.policy import Ruling

KEPT = "old\ndirty\n"
CHANGES = [
    "sort -uo a.lock README.md", "sort --outp=a.lock README.md", "sort README.md -oa.lock", "curl -so a.lock file:///etc/hostname",
    "curl -sSLo a.lock file:///etc/hostname", "wget -qO a.lock http://127.0.0.1:9/", "sed --in-pl s/old/x/ a.lock", "sed -ni p a.lock", "sed -Ei.bak s/o/x/ a.lock",
    "sed -n 'w a.lock' README.md", "sed 's/old/new/w a.lock' README.md", "sed -n -e p -e 'w a.lock' README.md", "awk 'BEGIN { print \"x\" > \"a.lock\" }'",
    "perl -0777pi -e s/old/x/ a.lock", "perl -pie s/old/x/ a.lock", "perl -e 'open F, \">\", \"a.lock\"'", "python3 -c 'open(\"a.lock\",\"w\")'", "uniq README.md a.lock",
    "tar cf a.lock README.md", "tar -cvf a.lock README.md", "tar --create --fi=a.lock README.md", "gzip a.lock", "xz -z a.lock", "zip a.lock README.md",
    "find . -name '*.lock' -delete", "find . -delete", "find . -fprint a.lock", "find . -name '*.lock' -exec rm {} +", "git config -f a.lock x.y z",
    "git config --fil=a.lock x.y z", "git log --output=a.lock", "git diff --outpu=a.lock HEAD", "git archive -o a.lock HEAD", "git bundle create a.lock HEAD", "git rm -rfq .",
    "git checkout HEAD a.lock", "git checkout .", "git restore .", "git reset --hard", "git clean -fdx", "git -C . checkout -- a.lock", "history -w a.lock",
    "openssl rand -out a.lock 8", "iconv -o a.lock README.md", "strace -o a.lock true", "script -qc true a.lock", "gcc -o a.lock x.c", "objcopy README.md a.lock",
    "cmake -E touch a.lock", "chmod -R 700 .", "vim -es README.md '+w! a.lock' +q", "ex -s a.lock +wq", "sqlite3 a.lock 'create table a(b)'", "ssh-keygen -f a.lock",
    "nobodyknows a.lock", "nobodyknows --out=a.lock", "nobodyknows -vo a.lock", "nobodyknows -voa.lock", "nobodyknows *.lock", "nobodyknows a.l?ck",
    "chmod +x a.loc?", "touch {x,a}.lock",
]  # fmt: skip
PROGRAMS = {
    # Program: flags that do no harm, the option that writes, its long name, and the rest of the line.
    "sort": ("bdfgnru", "o", "--output", "README.md"),
    "shuf": ("z", "o", "--output", "README.md"),
    "curl": ("sSLfkg", "o", "--output", "file://$PWD/README.md"),
    "sed": ("nErsuz", "i", "--in-place", "s/old/x/ a.lock"),
    "iconv": ("c", "o", "--output", "README.md"),
    "tar": ("vz", "f", "--file", "-c README.md"),
}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path.resolve() / "project"
    (place / "sub").mkdir(parents=True)
    (place / "README.md").write_text("old\n")
    (place / "sub/b.lock").write_text("old\n")
    (place / "a.lock").write_text(KEPT)
    subprocess.run(["git", "init", "-q", place], check=True)
    return place


@EVERY_WAY
def test_what_may_change_a_file_that_rules_keep_is_not_let_through(folder, way):
    assert [line for line in CHANGES if rule(folder, way, line, ["Edit(*.lock)"]).ruling is Ruling.ALLOW] == []
    assert [line for line in CHANGES if rule(folder, way, line, ask=["Edit(*.lock)"]).ruling is Ruling.ALLOW] == []


def spell(options, value):
    """Every way to write each of the options: whole, abbreviated, in a bundle, with what it takes joined or behind it."""
    for name in options.names:
        shortest = 3 if name.startswith("--") else len(name)
        for length in range(shortest, len(name) + 1):
            yield [name[:length], value]
            yield [f"{name[:length]}={value}"]
    for letter in options.letters:
        yield [f"-{letter}", value]
        yield [f"-{letter}{value}"]
        if (flag := next((each for each in "vqsunz" if each not in options.valued + options.letters), "")) != "":
            yield [f"-{flag}{letter}", value]
            yield [f"-{flag}{letter}{value}"]


@pytest.mark.parametrize("program", sorted(OUTPUTS))
def test_every_spelling_of_an_option_that_writes_is_the_same(folder, program):
    lines = [f"{program} {' '.join(words)} x" for words in spell(OUTPUTS[program], "a.lock")]

    allowed = [
        line for line in lines if rule(folder, "bypassPermissions", line, ["Edit(*.lock)"]).ruling is Ruling.ALLOW
    ]

    assert allowed == []


@pytest.mark.parametrize("program", sorted(set(IN_PLACE) - {"gawk"}))
def test_every_spelling_of_an_option_that_changes_in_place_is_the_same(folder, program):
    options = IN_PLACE[program]
    lines = [f"{program} {words[0]} s/a/b/ a.lock" for words in spell(options, ".bak")]

    allowed = [
        line for line in lines if rule(folder, "bypassPermissions", line, ["Edit(*.lock)"]).ruling is Ruling.ALLOW
    ]

    assert allowed == []


@pytest.mark.parametrize(
    "program",
    [pytest.param(each, marks=pytest.mark.needs("curl")) if each == "curl" else each for each in sorted(PROGRAMS)],
)
def test_no_spelling_that_the_real_program_takes_is_let_through(folder, program):
    random = Random(program)  # noqa: S311 (a seed that can be played again)
    flags, letter, name, rest = PROGRAMS[program]
    lines: list[str] = []
    for _ in range(40):
        bundle = "".join(random.sample(flags, random.randint(0, min(3, len(flags)))))
        abbreviated = name[: random.randint(4, len(name))]
        value = "" if program == "sed" else "a.lock"
        option = random.choice(
            [
                f"-{bundle}{letter} {value}",
                f"-{bundle}{letter}{value}",
                f"{abbreviated}={value}",
                f"{abbreviated} {value}",
            ]
        )
        lines.append(
            f"{program} {option} {rest}" if random.random() < 0.5 or program == "sed" else f"{program} {rest} {option}"
        )
    changed = []
    for line in dict.fromkeys(lines):
        (folder / "a.lock").write_text(KEPT)
        subprocess.run(
            ["bash", "-c", line], cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, env=os.environ
        )
        if (folder / "a.lock").read_bytes() != KEPT.encode():
            changed.append(line)
            (folder / "a.lock").write_text(KEPT)

    assert [
        line for line in changed if rule(folder, "bypassPermissions", line, ["Edit(*.lock)"]).ruling is Ruling.ALLOW
    ] == []
    assert len(changed) > len(set(lines)) / 4, "too few lines change the file for the test to mean something"


@pytest.mark.parametrize("program", sorted(TABLES))
def test_what_is_surely_a_value_is_one_that_may_be(program):
    """The reader that approves and the one that denies agree, for every option of every table."""
    table = TABLES[program]
    valued = "".join(
        name[1] for name, arity in table.options.items() if arity is not Arity.NONE and not name.startswith("--")
    )
    flag = next(
        (name[1] for name, arity in table.options.items() if arity is Arity.NONE and not name.startswith("--")), ""
    )
    for name, arity in table.options.items():
        if arity is not Arity.NEEDED:
            continue
        is_long = name.startswith("--")
        options = OptionNames(names=(name,)) if is_long else OptionNames(letters=name[1], valued=valued)
        spelled = [[name, "v"], [f"{name}=v"]] if is_long else [[name, "v"], [f"{name}v"], [f"-{flag}{name[1]}", "v"]]
        for words in spelled:
            parsed = parse_options(
                table, tuple(Word(raw=word, value=word, template=word) for word in (program, *words))
            )
            certain = [option.value for option in parsed.options if option.name == name] if parsed is not None else []
            assert set(certain) <= set(chain(find_values(words, options)))
