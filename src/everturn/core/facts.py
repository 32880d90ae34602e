"""What a session must not forget, however often it is compacted: folded from its messages, one by one."""

import msgspec

from everturn.core.contexts import find_head

SURE_FAILING, MAX_FAILING = 3, 20
"""Commands that failed and have not passed since: so many are kept, and so many more as their errors are short."""
MAX_BEHIND = 20
MAX_ERRORS = 24_000
"""Characters of all errors, beyond which only the sure ones are kept."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Words of the person, as they were said."""

    id: str
    """Id of the message, or of the call that asked."""
    text: str


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """A command that failed, until it passes."""

    tool_use_id: str
    """Or the id of the message that told of it."""
    command: str
    error: str
    test: str = ""
    """What it runs, whatever becomes of its output, where it is a test: that may pass by another command."""

    @property
    def name(self) -> str:
        return self.test or self.command


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Never mutated: who learns something makes the next one, whole. What is learnt twice is known once."""

    prompts: tuple[Said, ...] = ()
    """Earlier ones; the last is in sight by itself."""
    words: tuple[Said, ...] = ()
    """What the person sent while the present query was at work."""
    answers: tuple[Said, ...] = ()
    """To questions and to plans."""
    changed_files: tuple[str, ...] = ()
    """Paths of changed files, in the order of their first change."""
    failing: tuple[Failing, ...] = ()
    """The last one last."""
    contexts: tuple[Said, ...] = ()
    """What the model was told last about each context that changed since the session began."""
    behind: tuple[Said, ...] = ()
    """Commands in the background, by their task: how they ended is told later."""
    changed_by: str = ""
    """The last call that changed a file by its name."""

    def with_prompt(self, said: Said | None) -> "Facts":
        """A new query begins: what was sent during the one before is a prompt like any other. None: too long to repeat."""
        new = tuple(each for each in (*self.words, *((said,) if said else ())) if each not in self.prompts)
        return msgspec.structs.replace(self, prompts=self.prompts + new, words=())

    def with_words(self, said: Said) -> "Facts":
        known = said in self.words or said in self.prompts
        return self if known else msgspec.structs.replace(self, words=(*self.words, said))

    def with_answer(self, said: Said) -> "Facts":
        return self if said in self.answers else msgspec.structs.replace(self, answers=(*self.answers, said))

    def with_change(self, path: str, by: str) -> "Facts":
        """`by`: the call."""
        known = self.changed_files if path in self.changed_files else (*self.changed_files, path)
        return msgspec.structs.replace(self, changed_files=known, changed_by=by)

    def with_failure(self, failing: Failing) -> "Facts":
        """The oldest are forgotten: a command that nobody tries again would otherwise be kept for ever."""
        kept, room = [failing], MAX_ERRORS - len(failing.error)
        for each in reversed(self.failing):
            room -= len(each.error)
            if each.name != failing.name and len(kept) < (MAX_FAILING if room >= 0 else SURE_FAILING):
                kept.append(each)
        return msgspec.structs.replace(self, failing=tuple(reversed(kept)))

    def with_context(self, said: Said) -> "Facts":
        head = find_head(said.text)
        others = (each for each in self.contexts if find_head(each.text) != head)
        return msgspec.structs.replace(self, contexts=(*others, said))

    def with_behind(self, said: Said) -> "Facts":
        return self if said in self.behind else msgspec.structs.replace(self, behind=(*self.behind, said)[-MAX_BEHIND:])

    def with_success(self, command: str, test: str = "") -> "Facts":
        left = tuple(each for each in self.failing if each.command != command and each.name != (test or command))
        return self if len(left) == len(self.failing) else msgspec.structs.replace(self, failing=left)

    @property
    def held_by(self) -> frozenset[str]:
        """Ids of calls whose results hold one of these: they are never cleared."""
        return frozenset(each.tool_use_id for each in self.failing) | {said.id for said in self.answers}
