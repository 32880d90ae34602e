"""The conversation under way, named and written to a file, as `everturn sessions` does it for any other."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from everturn.core.errors import JournalError

if TYPE_CHECKING:
    from everturn.engine.engine import Engine


def find_kept(journal: object, session_id: str) -> Path:
    """The session's file. Raises `JournalError` where there is none (yet)."""
    path = getattr(journal, "path", None)
    if not isinstance(path, Path) or not path.exists():
        raise JournalError(f"Session {session_id} is not saved: it has no file.")
    return path


def append_name(file: Path, title: str) -> str:
    """The title as it was written. Raises `JournalError`."""
    from everturn.sessions.index.annotating import append_title

    title = " ".join(title.split())
    if not title:
        raise JournalError("A title must say something.")
    append_title(file, title)
    return title


def run_export(engine: "Engine", file: Path, target: Path, secrets: Iterable[str]) -> None:
    """Raises `JournalError`."""
    from everturn.core.masking import mask_keys
    from everturn.frontends.figures import render_usd
    from everturn.models.anthropic.masking import mask_secrets
    from everturn.sessions.export.saving import find_format, render_export, save_export
    from everturn.sessions.export.telling import Facts, stream_spoken

    hidden = tuple(secrets)
    facts = Facts(
        id=engine.session_id,
        title=f"Session {engine.session_id}",
        rows={"Session": engine.session_id, "Model": engine.model, "Cost": render_usd(engine.total_usd)},
    )
    session = {"id": engine.session_id, "model": engine.model, "cost_usd": engine.total_usd, "path": None}
    spoken = stream_spoken(file, mask=lambda text: mask_secrets(mask_keys(text), hidden))
    save_export(target, render_export(find_format(target.name), facts, session, spoken))
