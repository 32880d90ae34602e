"""The file of the running session: its title, and its export, as `everturn sessions` makes them for any other."""

from collections.abc import Callable
from pathlib import Path

from everturn.core.errors import JournalError
from everturn.ports.store import Journal


class LiveSessionFile:
    """`ports.store.SessionFile`."""

    def __init__(
        self,
        journal: Journal,
        folder: Path,
        *,
        find_mask: Callable[[], Callable[[str], str]] = lambda: str,
        render_usd: Callable[[float], str] = str,
    ) -> None:
        """`folder`: the working folder. `find_mask` returns what removes keys and our credentials from an export."""
        self._journal = journal
        self._folder = folder
        self._find_mask = find_mask
        self._render_usd = render_usd

    def rename(self, title: str) -> str:
        from everturn.sessions.index.titles import append_title

        file, title = self._find(), " ".join(title.split())
        if not title:
            raise JournalError("A title must say something.")
        append_title(file, title)
        return title

    def export(self, file: str, *, model: str, usd: float) -> str:
        from everturn.sessions.export.save import find_format, render_export, save_export
        from everturn.sessions.export.spoken import SessionFacts, stream_spoken

        kept, id_ = self._find(), self._journal.session_id
        target = Path(self._folder, Path(file or f"everturn-{id_[:8]}.md").expanduser())
        facts = SessionFacts(
            id=id_, title=f"Session {id_}", rows={"Session": id_, "Model": model, "Cost": self._render_usd(usd)}
        )
        session = {"id": id_, "model": model, "cost_usd": usd, "path": None}
        spoken = stream_spoken(kept, mask=self._find_mask())
        save_export(target, render_export(find_format(target.name), facts, session, spoken))
        return str(target)

    def _find(self) -> Path:
        """Path of the session's file. Raises `JournalError` where there is none (yet)."""
        journal = self._journal
        if journal.path is None or not journal.path.exists():
            raise JournalError(f"Session {journal.session_id} is not saved: it has no file.")
        return journal.path
