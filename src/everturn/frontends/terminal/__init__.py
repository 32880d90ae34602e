"""The interactive agent at a terminal: a prompt, an answer as it streams, questions, and one line of status."""
