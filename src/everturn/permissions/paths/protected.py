"""Paths that no rule and no mode approves ahead of time: what is written there runs later, or changes what may run. Pure."""

from collections.abc import Iterable
from functools import lru_cache

from everturn.permissions.rules.folding import fold_hard

FOLDERS = frozenset(
    {".git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn", ".claude", ".everturn"}
)
FILES = frozenset(
    [
        ".gitconfig",
        ".gitmodules",
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_aliases",
        ".bash_logout",
        ".zshrc",
        ".zprofile",
        ".zshenv",
        ".zlogin",
        ".zlogout",
        ".profile",
        ".envrc",
        ".npmrc",
        ".yarnrc",
        ".yarnrc.yml",
        ".pnp.cjs",
        ".pnp.loader.mjs",
        ".pnpmfile.cjs",
        "bunfig.toml",
        ".bunfig.toml",
        ".bazelrc",
        ".bazelversion",
        ".bazeliskrc",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yml",
        ".lefthook.yaml",
        "gradle-wrapper.properties",
        "maven-wrapper.properties",
        ".devcontainer.json",
        ".ripgreprc",
        "pyrightconfig.json",
        ".mcp.json",
        ".claude.json",
    ]
)
_SHORT = {"git~1": ".git", "claude~1": ".claude", "everturn~1": ".everturn"}
"""What Windows calls them where names are short."""
_PAIRS = frozenset({(".config", "git")})
_FREE = frozenset({(".claude", "worktrees")})
"""Folders of work inside a protected one."""


def find_protected(path: str, own: Iterable[tuple[str, ...]] = ()) -> str | None:
    """The protected name in an absolute path, whatever its spelling. `own` are folders from `fold_path`."""
    names = fold_path(path)
    for folder in own:
        if names[: len(folder)] == folder:
            return "/" + "/".join(folder)
    for at, name in enumerate(names):
        pair = (name, names[at + 1] if at + 1 < len(names) else "")
        if (name in FOLDERS and pair not in _FREE) or pair in _PAIRS:
            return name if pair not in _PAIRS else "/".join(pair)
    return names[-1] if names and names[-1] in FILES else None


@lru_cache(maxsize=1_024)
def fold_path(path: str) -> tuple[str, ...]:
    folded = (fold_hard(name) for name in path.split("/") if name)
    return tuple(_SHORT.get(name, name) for name in folded)
