"""The command that shows whether a goal is met: how it runs, and which files it reads."""
