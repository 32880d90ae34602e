"""The model's words as they stream: text, thinking, and what is taken back."""

from collections.abc import Callable

from everturn.core import events as ev
from everturn.core.masking import KeyMask
from everturn.core.messages import Text, Thinking
from everturn.frontends.ansi import DIM, STRUCK, YELLOW
from everturn.frontends.figures import render_count
from everturn.frontends.harmless import HarmlessText, make_line
from everturn.frontends.headless.view import Handlers
from everturn.frontends.markdown import Markdown, PaintCode
from everturn.frontends.transcript.page import Page


class AnswerText:
    def __init__(
        self, page: Page, *, strikes: bool = False, find_painter: Callable[[str], PaintCode | None] | None = None
    ) -> None:
        """`strikes`: words that are taken back stay, struck out. `find_painter` gives the colours of code in a language."""
        self._page = page
        self._strikes = strikes
        self.asked_for = "working"
        """What is waited for between two blocks."""
        self._words_at_stake = ""
        self._markdown = Markdown(bare=not page.screen.style.colour, find_painter=find_painter)
        self._flow = page.new_flow()
        self._harmless = HarmlessText()
        self._mask = KeyMask()
        self._pending: list[str] = []
        self._has_come = False
        """Text of this block, painted or held back for what may follow it."""
        self._fed = False
        self._speaking = False
        self._message_id = ""
        self._paragraph_at_mark = ""
        page.flush, page.end_text, self._show_waiting = self._flush, self._end_text, page.show_waiting
        page.show_waiting = self._show_table

    @property
    def is_speaking(self) -> bool:
        """A text streams, and its last line may be open."""
        return self._speaking

    @property
    def handlers(self) -> Handlers:
        return {
            ev.RequestStarted: self._request,
            ev.BlockBegan: self._block_began,
            ev.TextDelta: self._text,
            ev.BlockFinished: self._block_finished,
            ev.AnswerAdded: self._answer,
            ev.Retracted: self._retracted,
        }

    def _request(self, event: ev.RequestStarted) -> None:
        self.asked_for = f"waiting for {make_line(event.model)}"
        self._page.waiting.begin(self.asked_for)
        self._page.plan_frame()

    def _block_began(self, event: ev.BlockBegan) -> None:
        page = self._page
        page.end_text()
        if event.message_id != self._message_id:
            self._message_id = event.message_id
            self._paragraph_at_mark = page.paragraph
            self._words_at_stake = ""
            page.screen.mark()
        match event.kind:
            case "text":
                self._speaking, self._has_come, self._fed = True, False, False
                self._flow = page.new_flow()
                page.waiting.begin("answering")
            case "thinking" | "redacted_thinking":
                page.waiting.begin("thinking")
            case _:
                page.waiting.begin(f"writing a call of {make_line(event.name)}" if event.name else "working")
        page.plan_frame()

    def _text(self, event: ev.TextDelta) -> None:
        self._has_come = True
        self._pending.append(event.text)
        self._page.plan_frame()

    def _block_finished(self, event: ev.BlockFinished) -> None:
        match event.block.view:
            case Text(text=text) if not self._has_come:
                self._pending.append(text)
                self._end_text()
            case Text():
                self._end_text()
            case Thinking(thinking=thinking) if thought := make_line(thinking):
                self._page.say(f"∴ {thought}", DIM)

    def _answer(self, _event: ev.AnswerAdded) -> None:
        self._end_text()
        self._page.screen.keep()
        self._message_id = ""

    def _retracted(self, event: ev.Retracted) -> None:
        """The calls of a response that is taken back end without a word."""
        page = self._page
        page.waiting.forget_calls()
        if event.message_id != self._message_id:
            return
        self._message_id = ""
        self._end_text()
        is_gone = page.screen.take_back()
        if is_gone:
            page.paragraph = self._paragraph_at_mark
        words = self._words_at_stake if is_gone and self._strikes else ""
        if words:
            page.put_words(words, STRUCK)
        if words or not is_gone:
            page.say(f"↶ taken back ({event.cause}): the words above no longer count", YELLOW)
        page.screen.keep()

    def _flush(self) -> None:
        """Paints the text that has come."""
        if not self._pending:
            return
        text = self._mask.feed(self._harmless.feed("".join(self._pending)))
        self._pending.clear()
        self._put_text(text)

    def _put_text(self, text: str) -> None:
        if not text:
            return
        self._words_at_stake += text if self._strikes else ""
        if not self._fed:
            self._fed = True
            self._page.open_paragraph("text")
        self._page.screen.put(self._flow.lay(self._markdown.feed(text)))

    def _end_text(self) -> None:
        self._flush()
        self._put_text(self._mask.feed(self._harmless.finish()) + self._mask.finish())
        if self._speaking:
            self._speaking = False
            self._page.screen.put(self._flow.lay(self._markdown.finish()) + self._flow.finish())
            self._page.screen.end_line()

    def _show_table(self) -> bool:
        """A table is shown when it is complete; until then it is said how long it is."""
        if not self._speaking:
            return self._show_waiting()
        if rows := self._markdown.rows_held:
            self._page.screen.show_status(f"writing a table: {render_count(rows, 'row')}")
        return False
