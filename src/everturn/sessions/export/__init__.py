"""Sessions for people and other programs: as Markdown, as a page for the browser, as JSON."""
