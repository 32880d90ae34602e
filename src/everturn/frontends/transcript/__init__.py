"""A conversation on a terminal as it happens: what was said, what ran and how it ended, one module for each family of events."""
