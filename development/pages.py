"""Writes everything that is made from the code: the generated pages of the manual, and what the model is told of the tools.

python -m development.pages    (`make pages`)
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from development import (
    classes_page,
    events_page,
    hooks_page,
    keywords,
    loop_page,
    rules_page,
    settings_page,
    tools_page,
)
from everturn.testing.explore import PROFILES, explore
from everturn.tools import announcements

DOCS = Path(__file__).parents[1] / "docs"


def render_pages() -> Iterator[tuple[Path, bytes]]:
    """Each generated file with what it should hold."""
    found = {name: explore(limits) for name, limits in PROFILES.items()}
    for file, text in loop_page.render_docs(found).items():
        yield DOCS / "explanation" / file, text.encode()
    yield DOCS / "reference" / "settings.md", settings_page.render_page().encode()
    yield DOCS / "reference" / "tools.md", tools_page.render_page().encode()
    yield DOCS / "reference" / "events.md", events_page.render_page().encode()
    yield DOCS / "reference" / "classes.md", classes_page.render_page().encode()
    yield keywords.FILE, keywords.render_module().encode()
    yield DOCS / "reference" / "hooks.md", hooks_page.render_page().encode()
    yield announcements.FILE, announcements.encode_announcements(tools_page.list_tools())
    rules = DOCS / "how-to" / "model-server.md"
    yield rules, rules_page.render_page(rules.read_text("utf-8")).encode()


def main() -> int:
    for path, content in render_pages():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
            sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
