"""Where the next command starts: told by the tool that runs commands, asked by the policy that judges them."""


class ShellFolder:
    """Of one session."""

    path: str | None = None
    """Real and absolute; None is the working folder."""
