"""From the parser's tree to a `Reading`: every command and redirection of a line, and a doubt for all that is not plainly understood.

`statements` begins the walk. It is composed of readers for `commands`, `redirections` and `words`, which share one `Draft` (what was
found so far) and the `Variables` (what the line has set so far).
"""
