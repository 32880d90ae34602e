"""The texts before a conversation: which of them changed, and how the message about a change is recognised later. Pure."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from everturn.core.marks import reminder

USER_ENTRY, SYSTEM_ENTRY, SECTION = "The context ", "The system context ", "The section "
"""Stand before the entry's name, in quotation marks, where the model reads of a change."""
PERMISSIONS = "Permissions"
"""The section of the system prompt that changes with the permission mode."""
REMINDER, _CLOSING = reminder("|").split("|")
"""Around what is attached."""


class Contexts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    user: dict[str, str] = {}
    system: dict[str, str] = {}
    permissions: str = ""
    """What the system prompt says in its section on permissions; empty where it has none."""

    def convert(self, change: Callable[[str], str]) -> "Contexts":
        """Names and texts alike."""
        user, system = (
            {change(name): change(text) for name, text in entries.items()} for entries in (self.user, self.system)
        )
        return Contexts(user=user, system=system, permissions=change(self.permissions))


class ChangedEntry(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    head: str
    """What it is called where the model reads of it: no other entry is called so."""
    before: str | None
    now: str | None
    first: str | None
    """Text at the beginning of the session, where it is worth referring to. None, here and above, means that there was none."""


def list_changes(first: Contexts, before: Contexts, now: Contexts) -> list[ChangedEntry]:
    """Entries of the system context and sections are short: they are told whole, also where they read again as at first."""
    return [
        *_compare(USER_ENTRY, first.user, before.user, now.user),
        *_compare(SYSTEM_ENTRY, {}, before.system, now.system),
        *_compare(SECTION, {}, _list_sections(before), _list_sections(now)),
    ]


def _list_sections(contexts: Contexts) -> dict[str, str]:
    return {PERMISSIONS: contexts.permissions} if contexts.permissions else {}


def _compare(
    kind: str, first: Mapping[str, str], before: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[ChangedEntry]:
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            yield ChangedEntry(
                name=name,
                head=name_entry(kind, name),
                before=before.get(name),
                now=now.get(name),
                first=first.get(name),
            )


def name_entry(kind: str, name: str) -> str:
    """The name of an entry, quoted as JSON, so that its text cannot run into what follows."""
    return kind + msgspec.json.encode(name).decode()


def find_change(text: str) -> str | None:
    """What a block of an attachment tells of a context, without the tag around it; None where it tells something else."""
    if not text.startswith(tuple(REMINDER + kind for kind in (USER_ENTRY, SYSTEM_ENTRY, SECTION))):
        return None
    return text.removeprefix(REMINDER).removesuffix(_CLOSING)


def find_head(told: str) -> str:
    """The words that say which entry the message is about."""
    at = told.find('"') + 1
    while at < len(told) and told[at] != '"':
        at += 2 if told[at] == "\\" else 1
    return told[: at + 1]
