"""Our tags: no foreign text closes, opens or imitates one, and what is none of them stays as it is."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured
from tests.tag_reader import (
    ATTACK,
    FRAMES,
    OURS,
    check_nesting,
    find_tags,
    hidden_tags,
    hide,
    hostile_texts,
    nasty_tags,
)

import everturn
from everturn.core.lookalikes import all_letters_like, find_foreign, letters_like
from everturn.core.marks import (
    Own,
    Tag,
    enclose_summary,
    fence,
    harmless,
    has_tag,
    in_brackets,
    join_harmless,
    one_line,
    quote,
    reminder,
    reminder_of_words,
    tool_error,
)
from everturn.core.notes import Notes, Todo, TodoStatus
from everturn.engine import wording
from everturn.ports.tasks import TaskReport, TaskStatus

MEGABYTE = 1_000_000


@given(nasty_tags() | hidden_tags())
def test_every_spelling_is_recognised(tag):
    assert find_tags(tag)
    assert has_tag(tag)


@pytest.mark.parametrize(
    "tag",
    [
        "<my-ns:system-reminder>",
        "</a:b:system-reminder>",
        f"<{'n' * 60}:system-reminder>",
        "\u226e/system-reminder>",
        "<system-remin\u0434er>",
        "<\U00010448ystem-reminder>",
        "<t\ua74fl_use_error>",
        "<t\u221el_use_error>",
        hide("</system-reminder>"),
        f"<{hide('system')}-reminder>",
        f"a{hide('<tool')}_use\U000e0101_error",
        f"<sys{hide('abc')}tem-reminder>",
        "<" + "".join(chr(0x1F1E6 + ord(letter) - ord("a")) for letter in "system") + "-reminder>",
    ],
)
def test_spellings_that_were_missed_once(tag):
    assert has_tag(tag)
    assert not has_tag(harmless(tag))


@given(st.data())
def test_a_tag_in_letters_of_any_scripts_is_recognised(data):
    """Those that count as letters among others, and those that count as letters where all do."""
    tag = data.draw(st.sampled_from(sorted(OURS.values())))
    choose = data.draw(st.sampled_from([all_letters_like, list_foreign]))

    spelled = "".join(data.draw(st.sampled_from(choose(each))) if each.isalpha() else each for each in tag)

    assert has_tag(f"<{spelled}>")
    assert not has_tag(harmless(f"</{spelled}>"))


def list_foreign(letter):
    return [letter, *(chr(code) for code, like in find_foreign().items() if like in letters_like(letter))]


def test_what_unicode_lists_as_confusable_with_a_letter_of_ours_is_taken_for_it():
    missed = [
        (hex(code), tag)
        for letters, codes in load_confusables()
        for code in codes
        for letter in letters
        for tag in OURS.values()
        if letter in tag and not has_tag(f"<{tag.replace(letter, chr(code))}>")
    ]

    assert missed == []


def load_confusables():
    for line in Path(__file__).with_name("confusables.txt").read_text("ascii").splitlines()[1:]:
        letters, _, pieces = line.partition(": ")
        ends = [[int(end, 16) for end in piece.split("-")] for piece in pieces.split()]
        yield letters, [code for first, *last in ends for code in range(first, (last or [first])[0] + 1)]


@given(hostile_texts())
def test_no_tag_is_left_and_nothing_else_is_changed(text):
    made = harmless(text)

    assert find_tags(made) == []
    assert not has_tag(made)
    assert harmless(made) == made
    assert made.replace("\\", "") == text.replace("\\", "")
    if not find_tags(text):
        assert made == text


@given(st.text())
def test_a_text_without_such_tags_stays_as_it_is(text):
    assert harmless(text) == text


@pytest.mark.parametrize(
    "text",
    [
        '<div class="system-reminder">a</div>',
        "<details><summary>More</summary></details>",
        "Vec<ToolUseError>, Map<String, SystemReminder>, List<Summary>, a < b > c, x << 2, cat <<EOF",
        "<system>be kind</system> <tool>use error codes</tool> <reminder>",
        "&lt;system-reminder&gt; \\u003c/system-reminder> [system-reminder] system-reminder>",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<a>\n+<b/>\n",
        "if (total_use_errors <3) {}\n#include <stdio.h>\nstd::map<std::string, Tool> tools;",
        "<tools-used>, <systemd-unit>, <toolbox>, <синтаксис>, <süß>, \u2039zitiert\u203a",
        "<\\system-reminder>",
        "\ud800<x>\udfff",
        f"\U0001f3f4{hide('gbeng')}\U000e007f <b>{hide('a < b, <system>')}</b> \u8fbb\U000e0100 \ud800",
    ],
)
def test_markup_and_code_of_other_kinds_stay_as_they_are(text):
    assert harmless(text) == text


def test_what_was_done_is_to_be_seen():
    assert harmless("a </system-reminder> b <Tool-Use-Error x=1>") == "a <\\/system-reminder> b <\\Tool-Use-Error x=1>"
    assert harmless("<summary>") == "<summary>"
    assert harmless("</summary>", Tag.SUMMARY) == "<\\/summary>"


@pytest.mark.parametrize(
    "piece",
    [
        *("<", "</system-reminder>", "</system-reminde", "<s-y-s-t-e-m-r-e-m-i-n-d-e-", "<&#45;", "<a:", "<system&45"),
        *(
            "<\u200b",
            "\u2039/\u0455\u0443stem-reminder",
            "\u2039<",
            "é<",
            "<s\u200by",
            "<\u3164",
            "x",
            "é",
            "<" + "a" * 40,
            "<t" + " " * 20,
            hide("<"),
            hide("</system-reminder>"),
            hide("</system-reminde"),
            f"</system-reminder>{hide('<')}",
            f"<{hide('s-y-s-t-e-m')}",
            f"<{hide('t' + ' ' * 20)}",
            "<\U000e0101",
            "\u0627",
            "<\U00010420y",
            "<\U00010420ystem-reminde",
        ),
    ],
)
def test_a_megabyte_takes_less_than_a_fifth_of_a_second(piece):
    texts = [piece * (MEGABYTE // len(piece)), "<" + piece[1:] * (MEGABYTE // max(len(piece) - 1, 1))]
    harmless("é" + ATTACK), harmless(ATTACK)

    for text in texts:
        assert min(seconds_for(text) for _ in range(3)) < 0.2


def seconds_for(text):
    with measured() as spent:
        harmless(text)
    return spent.seconds


@given(st.lists(hostile_texts()))
def test_a_tag_of_several_pieces_is_a_tag(pieces):
    assert join_harmless(pieces) == harmless("".join(pieces))


@given(hostile_texts(), hostile_texts())
def test_what_is_our_own_or_the_persons_stays_among_foreign_pieces(own, foreign):
    joined = join_harmless([foreign, "\n|", Own(own), "|\n", foreign])

    assert f"\n|{own}|\n" in joined
    assert find_tags(joined.replace(f"\n|{own}|\n", "\n||\n")) == []


@given(hostile_texts())
def test_a_tag_around_a_text_that_is_shown_again_stays_ours_alone(text):
    for told in (reminder(text), tool_error(text)):
        assert join_harmless(quote(told)) == told
    assert find_tags(join_harmless(quote(f"{text} x"))) == []


@given(hostile_texts())
def test_each_of_our_tags_is_opened_and_closed_by_us_alone(text):
    assert check_nesting(reminder(text)) == ["system-reminder"]
    assert check_nesting(tool_error(text)) == ["tool_use_error"]
    assert check_nesting(enclose_summary(f"</summary>{text}<summary>"), FRAMES) == ["summary"]
    assert find_tags(enclose_summary(text)) == []


@given(hostile_texts())
def test_what_a_person_typed_stays_as_typed(text):
    told = reminder_of_words("The person said:", text)

    ours = told.removesuffix(text) if has_tag(text) else told
    assert check_nesting(ours) == ["system-reminder"]
    assert told.endswith(text if has_tag(text) else f"{text}\n</system-reminder>")


def test_no_foreign_words_stand_in_the_tag_itself():
    with pytest.raises(ValueError, match="attributes"):
        fence(Tag.CELL, "x", ' type="code">\n</cell>"')


@given(hostile_texts(), st.sampled_from([Tag.PAGE, Tag.CELL, Tag.OUTPUT]), st.booleans())
def test_a_fence_holds_its_text_word_for_word_and_the_text_cannot_close_it(text, tag, hostile):
    text = f"{text}</{tag}><{tag.upper()}>" if hostile else text
    fenced = fence(tag, text, ' id="a"')
    name = re.match(r"<([\w-]+) ", fenced)[1]

    assert fenced == f'<{name} id="a">\n{text}\n</{name}>'
    assert (name == tag) == (not find_tags(text, FRAMES))
    assert name not in text or name == tag
    assert fence(tag, text, ' id="a"') == fenced


@given(st.text("[]\\a"))
def test_a_text_in_square_brackets_cannot_close_them(text):
    made = in_brackets(text)

    depth = 0
    for bracket in re.findall(r"(?<!\\)[\[\]]", made):
        depth += 1 if bracket == "[" else -1
        assert depth >= 0
    assert in_brackets(made) == made
    assert made.replace("\\]", "]") == text.replace("\\]", "]")


def test_a_name_is_one_line():
    assert one_line("a\nb\r\x1b[1m\u2028 c ü.txt") == "a\\nb\\r\\x1b[1m\\u2028 c ü.txt"


def report(text):
    return TaskReport(
        id="b1",
        kind="local_bash",
        tool_use_id="t",
        status=TaskStatus.FAILED,
        description=text,
        summary=text,
        output=text,
        output_path=text,
        command=text,
    )


@given(hostile_texts())
def test_every_sentence_of_the_loop_holds_what_it_quotes(text):
    reminders = [
        wording.user_context({text: text, "b": text}),
        wording.hook_blocked(text, before_goal=False),
        wording.hook_blocked(text, before_goal=True),
        wording.output_invalid(text, text),
        wording.changed_files([text, text]),
        wording.finished_task(report(text)),
        wording.lost_call(text, text),
        wording.lost_call("Bash", f'{{"command": "{text}"}}', waited=True),
        wording.unpaired_result(text),
    ]
    for told in reminders:
        assert check_nesting(told) == ["system-reminder"]
        assert told.startswith("<system-reminder>\n")
        assert told.endswith("\n</system-reminder>")
    assert check_nesting(wording.unknown_outcome(text, text)) == ["tool_use_error"]
    assert find_tags(wording.system_context({text: text, "b": text})) == []
    assert find_tags(wording.summary_request(text)) == []


@given(hostile_texts(), hostile_texts())
def test_what_survives_a_compaction_holds_no_tag_but_those_that_we_wrote(first, second):
    from everturn.context.retention import render_facts
    from everturn.core.facts import Facts, Failing, Said

    todos = tuple(
        Todo(content=text, status=TodoStatus.PENDING, active_form=text) for text in (first, second) if text.strip()
    )
    facts = Facts(
        contexts=(Said(id="c", text=first), Said(id="d", text=second)),
        answers=(Said(id="a", text=tool_error(first)), Said(id="b", text=f"The person answered: {second}")),
        changed_files=(first, second),
        failing=(
            Failing(tool_use_id="t", command=first, error=second),
            Failing(tool_use_id="u", command=second, error=tool_error(first)),
        ),
    )

    told = render_facts(facts, Notes(todos=todos, plan=second))

    assert check_nesting(told) == ["tool_use_error", "tool_use_error"]


SPEAKING = (
    "compose",
    "context",
    "core",
    "engine",
    "hooks",
    "permissions",
    "ports",
    "sandbox",
    "settings",
    "tools",
    "workspace",
)
"""Packages with sentences that a model may read."""
PARSERS = re.compile(r"tools/web_\w+/(?:html_tokens|page|brave|markdown|lines)\.py|permissions/(?:shell|rules)/")
"""They read tags of others, or a shell's redirections."""
NO_TAGS = {
    ("settings/options.py", "<set>"),
    ("permissions/rules/parse.py", "<server>"),
    ("tools/bash/hook_variables.py", "</dev"),
    ("engine/wording.py", "<system-reminder>"),  # the system prompt says what our tags look like
}
_TAG = re.compile(r"(?<!\(\?P)(?<!\w)</?[A-Za-z][\w-]*(?=[ >/]|$)>?")


def find_literals(file):
    """What looks like a tag in the texts of a module, docstrings apart, and where a tag is put together."""
    source = file.read_text(encoding="utf-8")
    if not re.search(r"<[/A-Za-z{]", source):
        return
    tree = ast.parse(source)
    documents = {
        id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for before, after in zip(node.values, node.values[1:], strict=False):
                if (
                    isinstance(before, ast.Constant)
                    and re.search(r"</?$", before.value)
                    and not isinstance(after, ast.Constant)
                ):
                    yield "<{…}>"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield from _TAG.findall(node.value)


def test_every_tag_towards_a_model_is_declared_in_one_place():
    root = Path(everturn.__file__).parent
    files = [file for package in SPEAKING for file in (root / package).rglob("*.py")]
    found = {(file.relative_to(root).as_posix(), tag) for file in files for tag in find_literals(file)}

    assert {each for each in found if not PARSERS.match(each[0])} - NO_TAGS == {("core/marks.py", "<{…}>")}
    assert {tag.value for tag in Tag} == {*OURS.values(), *FRAMES.values()}
