"""The page of settings is the code's own."""

from pathlib import Path

from development.settings_page import render_page

from everturn.core.limits import Limits
from everturn.settings.options import Options

ROOT = Path(__file__).parents[2]


def test_the_page_is_not_stale():
    written = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    assert written == render_page(), "run: make pages"


def test_every_option_and_every_limit_has_its_line():
    lines = render_page().splitlines()
    for name in (*Options.__struct_fields__, *Limits.__struct_fields__):
        assert any(line.startswith(f"| `{name}` | ") for line in lines)
