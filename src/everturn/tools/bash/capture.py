"""What a command printed, bounded: the head and the tail are kept, the middle is counted."""

import codecs
import re
from collections import deque

_KEPT = 65_536
"""Characters held of the head, and again of the tail, before escape sequences are taken out."""

_ESCAPES = r"""(?x)
  (?:\x1b\[|\x9b)[0-?]*[\ -/]*[@-~]           # colours, cursor
| \x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?   # titles, links, device strings; an open one ends with its line
| \x1b[\ -/]*[0-~]                            # all other escapes
| [\x00-\x08\x0b\x0c\x0e-\x1a\x1b-\x1f\x7f]   # control characters but tab and line ends
"""


class Capture:
    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._head_length = 0
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self.length = 0
        """Characters that came, all of them."""

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Takes the next piece; gives its text. Bytes that are no UTF-8 become U+FFFD."""
        text = self._decoder.decode(data, final)
        self.length += len(text)
        rest = text
        if self._head_length < _KEPT:
            taken = text[: _KEPT - self._head_length]
            self._head.append(taken)
            self._head_length += len(taken)
            rest = text[len(taken) :]
        if rest:
            self._tail.append(rest)
            self._tail_length += len(rest)
            while self._tail_length - len(self._tail[0]) >= _KEPT:
                self._tail_length -= len(self._tail.popleft())
        return text

    def render(self, most: int) -> str:
        """For the model: no escape sequences, at most `most` characters and a notice of what was cut."""
        head, tail = "".join(self._head), "".join(self._tail)
        if self.length == len(head) + len(tail):
            whole = strip_escapes(head + tail)
            if len(whole) <= most:
                return whole
            head = tail = whole
            cut = len(whole) - most
        else:
            head, tail = strip_escapes(head), strip_escapes(tail)
            cut = self.length - min(len(head), most // 2) - min(len(tail), most // 2)
        return f"{head[: most // 2]}\n\n[… {cut:,} characters cut …]\n\n{tail[-(most // 2) :]}"


def strip_escapes(text: str) -> str:
    text = text.replace("\r\n", "\n")
    return re.sub(_ESCAPES, "", text)
