"""Files that tools have written for the model: what it may read without asking, wherever they lie."""


class Outputs:
    """Those of one session. Filled by the tools, asked by the policy."""

    def __init__(self) -> None:
        self._paths: set[str] = set()

    def add(self, path: str) -> None:
        """Real and absolute."""
        self._paths.add(path)

    def list_paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._paths))

    def clear(self) -> None:
        """They are gone."""
        self._paths.clear()

    def __contains__(self, path: str | None) -> bool:
        return path in self._paths
