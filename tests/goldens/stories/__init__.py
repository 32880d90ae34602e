"""The scenarios, by what they are about."""

from tests.goldens.stories import context, sessions, tools, turns

ALL = (turns, context, tools, sessions)
