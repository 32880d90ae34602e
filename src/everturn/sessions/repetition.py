"""How the ledger sees that a model goes round in circles: the same calls with the same results, and nothing new between."""


class Repetition:
    """Counts each call (tool, input and result) since the last one that brought something new.

    So a model that alternates between two calls is seen as well as one that repeats a single call, while a call that is
    repeated after other work starts from one again.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._counts: dict[int, int] = {}
        self.most = 0
        """Of the call that was repeated most."""
        self.name = ""
        """Its tool."""

    def note(self, name: str, input_: bytes, result: bytes) -> None:
        # Hashes, not the calls: results can be large, and a query can make thousands.
        call = hash((name, input_, result))
        if call not in self._known:
            self._known.add(call)
            self._counts.clear()
            self.most = 0
        count = self._counts[call] = self._counts.get(call, 0) + 1
        if count > self.most:
            self.most, self.name = count, name
