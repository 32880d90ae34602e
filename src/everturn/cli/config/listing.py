"""`everturn config list`: every setting with its value and where it comes from. Pure."""

from everturn.cli.config.values import ENV_PREFIX, default_of, render_value
from everturn.frontends.harmless import make_line
from everturn.settings.keys import KEYS, LIMIT_PREFIX
from everturn.settings.sources import Found, Merged

DEFAULT = "default"
MANY = (LIMIT_PREFIX, "sandbox.")
"""Of these only what is set is listed."""


def render_list(merged: Merged) -> str:
    """Every setting; of the limits and of the sandbox only those that were set."""
    shown = [key for key in KEYS if key in merged.found or not key.startswith(MANY)]
    rows = [_row(key, merged.found.get(key)) for key in shown]
    for name, origin in merged.env_origins.items():
        rows.append((ENV_PREFIX + name, render_value(ENV_PREFIX + name, merged.env[name]), origin))
    width, room = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"{key:<{width}}  {value:<{room}}  {make_line(origin)}" for key, value, origin in rows]
    told = [*merged.warnings, *([merged.held] if merged.held else [])]
    notes = [f"warning: {make_line(warning)}" for warning in told]
    limits = (
        f"{' and '.join(f'{prefix}*' for prefix in MANY)} that are not listed have their defaults: docs/settings.md"
    )
    return "\n".join([*lines, *notes, limits]) + "\n"


def _row(key: str, found: Found | None) -> tuple[str, str, str]:
    if found is None:
        value = default_of(key)
        return key, "-" if value is None else render_value(key, value), DEFAULT
    if key == "apiKeyHelper" and found.by_environment:
        return key, "(not used)", found.origin
    return key, render_value(key, found.value), found.origin
