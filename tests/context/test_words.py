"""Every sentence of the context room that a model reads, as one page."""

from pathlib import Path

from tests.context.transcripts import prompt

from everturn.context import background, clear, compact, digest, reshown_files, results, retention, snip
from everturn.core.facts import Facts, Failing, Said
from everturn.core.notes import Notes, Todo, TodoStatus

FACTS = Facts(
    contexts=(Said(id="c", text='The context "rules" has changed; its text is now:\nUse tabs.'),),
    prompts=(Said(id="p", text="Make it work."),),
    words=(Said(id="w", text="And quickly."),),
    answers=(Said(id="q", text="The person answered: green"),),
    changed_files=("/p/a.py", "/p/b.py"),
    changed_by="e",
    failing=(Failing(tool_use_id="t", command="make", error="Exit code 2\nno rule"),),
)
NOTES = Notes(
    todos=(
        Todo(content="Look", status=TodoStatus.IN_PROGRESS, active_form="Looking"),
        Todo(content="Done", status=TodoStatus.COMPLETED, active_form="Doing"),
    ),
    plan="1. Look.\n2. Leap.",
    pins=("Use tabs.",),
)


def test_the_words_for_the_model_are_those_of_the_snapshot():
    words = [
        compact.INSTRUCTION,
        compact.WRAPPER,
        compact.PROMPT_HEAD,
        compact.LAST_PROMPT_HEAD,
        compact.BOUNDARY,
        retention.render_facts(FACTS, NOTES, when=retention.tell_when(FACTS, {}, {"t": None, "e": None})),
        f"{reshown_files.HEAD}\n\n{reshown_files.FILE.format(path='/p/a.py', text=reshown_files.number_lines('one'))}",
        results.render_preview("abcdefghij" * 2, 10, path="/sessions/results/1"),
        results.render_preview("abcdefghij" * 2, 10, path=None),
        snip.NOTE.format(count=4),
        clear.LINE.format(tokens=1_234),
        background.INSTRUCTION.format(why="test that was made to pass", stretch="…"),
        background.STANDS_FOR.format(why="test that was made to pass", summary="It was the import."),
        digest.INSTRUCTION.format(stretch="…"),
        digest.render_digest("Both work now.", (prompt("p", "Make it work."), prompt("q", "This, too.")), room=100),
    ]
    page = "\n\n-----\n\n".join(words) + "\n"
    assert page == (Path(__file__).parent / "snapshots" / "words.txt").read_text(encoding="utf-8")
