"""The person at the interactive terminal, as the gate sees them: each question stands in place of the prompt."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from everturn.frontends.asking.floor import Floor
from everturn.frontends.terminal.live_screen import LiveScreen
from everturn.frontends.terminal.palette import SIXTEEN, Palette
from everturn.ports.policy import Call, Verdict

if TYPE_CHECKING:
    from everturn.frontends.asking.approver import TerminalApprover
    from everturn.frontends.terminal.question import Question
    from everturn.frontends.terminal.results import Details


async def never_read(details: "Details") -> None:
    """Before there is a program around it."""


class TerminalPerson:
    """`ports.policy.Approver`. What it takes to ask is loaded with the first question."""

    one_at_a_time = True

    def __init__(self, screen: LiveScreen, *, folder: str = "") -> None:
        """`folder`: the working folder."""
        self.screen = screen
        self._folder = folder
        self.floor = Floor()
        self.ask: Callable[[Question | None], None] = lambda _: None
        """Puts a question in place of the prompt, and takes it away with None."""
        self.read: Callable[[Details], Awaitable[None]] = never_read
        """Shows a long text in place of all else, and returns when the person has left it."""
        self.palette: Callable[[], Palette] = lambda: SIXTEEN
        """The colours of now."""
        self._approver: TerminalApprover | None = None

    async def approve(self, call: Call, reason: str) -> Verdict:
        # Nothing is awaited before the approver has taken its place on the floor.
        if self._approver is None:
            self._approver = self._build()
        return await self._approver.approve(call, reason)

    def _build(self) -> "TerminalApprover":
        from everturn.frontends.asking.approver import TerminalApprover
        from everturn.frontends.terminal.editor import PromptEditor
        from everturn.frontends.terminal.question import LiveDialogue

        screen = self.screen
        dialogue = LiveDialogue(
            write=screen.put,
            style=screen.style,
            size=lambda: (screen.columns, screen.rows),
            ask=self.ask,
            make_editor=PromptEditor,
            read=self.read,
            palette=self.palette,
            folder=self._folder,
        )
        return TerminalApprover(dialogue, self.floor)
