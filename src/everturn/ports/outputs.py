"""Files that tools have written for the model: what it may read without asking, wherever they lie."""


class Outputs:
    """Those of one session. Filled by the tools, asked by the policy."""

    def __init__(self) -> None:
        self.folder: str | None = None
        """Where tools put them: a folder of the session, which is made when it is needed. None where it is not saved."""
        self._paths: set[str] = set()

    def add(self, path: str) -> None:
        """Real and absolute."""
        self._paths.add(path)

    def list_paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._paths))

    def remove(self, path: str) -> None:
        """It is gone."""
        self._paths.discard(path)

    def __contains__(self, path: str | None) -> bool:
        return path in self._paths
