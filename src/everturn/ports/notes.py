"""The session's notes while the calls of one response change them."""

from everturn.core.notes import Notes


class Notepad:
    """`notes` is what counts for these calls. The session takes it over when their results are kept, and not before."""

    def __init__(self, notes: Notes = Notes()) -> None:  # noqa: B008 - frozen
        self.notes = notes
