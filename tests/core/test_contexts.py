"""What of the contexts changed, and whether a block tells of it."""

from hypothesis import given
from hypothesis import strategies as st

from everturn.core.contexts import (
    SYSTEM_ENTRY,
    USER_ENTRY,
    ChangedEntry,
    Contexts,
    find_change,
    find_head,
    list_changes,
    name_entry,
)
from everturn.engine.wording import changed_context, finished_task, queued_command, reminder
from everturn.ports.tasks import TaskReport

TEXTS = st.text(max_size=8) | st.sampled_from(("a", "b"))
ENTRIES = st.dictionaries(TEXTS, TEXTS, max_size=3)
CONTEXTS = st.builds(Contexts, user=ENTRIES, system=ENTRIES)


def entry(**fields):
    head = name_entry(USER_ENTRY, "rules")
    return ChangedEntry(**({"name": "rules", "head": head, "before": "a", "now": "b", "first": "a"} | fields))


def test_the_words_for_the_model():
    told = [
        changed_context(entry()),
        changed_context(entry(before=None, first=None)),
        changed_context(entry(now=None)),
        changed_context(entry(before="b", now="a")),
        changed_context(entry(before=None, now="a")),
    ]
    assert told == [
        reminder(words)
        for words in (
            'The context "rules" has changed; its text is now:\nb',
            'The context "rules" is new:\nb',
            'The context "rules" was removed; it no longer applies.',
            'The context "rules" has the same text again as at the beginning of this conversation.',
            'The context "rules" has the same text again as at the beginning of this conversation.',
        )
    ]


@given(CONTEXTS, CONTEXTS, CONTEXTS)
def test_each_change_is_told_apart_from_all_others_and_recognised(first, before, now):
    changes = list_changes(first, before, now)
    blocks = [changed_context(each) for each in changes]
    heads = [find_head(find_change(block)) for block in blocks]
    assert heads == [each.head for each in changes]
    assert len(set(heads)) == len(heads)
    for kind, old, new in ((USER_ENTRY, before.user, now.user), (SYSTEM_ENTRY, before.system, now.system)):
        changed = {each.name: each.now for each in changes if each.head.startswith(f'{kind}"')}
        kept = {name: text for name, text in old.items() if name not in changed}
        assert kept | {name: text for name, text in changed.items() if text is not None} == new


@given(CONTEXTS, CONTEXTS)
def test_what_did_not_change_is_not_told(first, now):
    assert list_changes(first, now, now) == []


def test_other_attachments_tell_of_no_context():
    words = 'The context "rules" is new:'
    report = TaskReport(
        id="1", kind="local_bash", tool_use_id="t", status="completed", description="d", summary=words, output=words
    )
    for told in (queued_command(words), finished_task(report), words, ""):
        assert find_change(told) is None
