"""Repositories that would have git run `touch …/pwned`, each in a way of its own, made of one ordinary repository."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.permissions.git.real import add_submodule, make_repository, run_git

PROGRAM = "PROGRAM"
"""Stands for the program in the settings below."""
RUN_BY_READING = {
    "a watcher": "[core]\n\tfsmonitor = PROGRAM",
    "a carriage return before the key": "[core]\n\rfsmonitor = PROGRAM",
    "a carriage return before the section": "\r[core]\r\r\n\rfsmonitor = PROGRAM",
    "in one line": "[core]fsMonitor=PROGRAM",
    "after another section": "[user][core] fsmonitor = PROGRAM",
    "the old form": "[diff.x]\n\ttextconv = PROGRAM",
    "a value that goes on": "[core]\n\tfsmonitor = \\\n PROGRAM",
    "a value in pieces": '[core]\n\tfsmonitor = "PRO"GRAM',
    "a program for differences": "[diff]\n\texternal = PROGRAM",
    "a driver for differences": '[diff "x"]\n\tcommand = PROGRAM',
    "a driver for showing": '[diff "x"]\n\ttextconv = PROGRAM',
    "a bracket in the name": '[diff "a]b"]\n\tcommand = PROGRAM',
    "a quote in the name": '[diff "a\\"b"]\n\tcommand = PROGRAM',
    "a filter": '[filter "x"]\n\tclean = PROGRAM',
    "a filter that stays": '[filter "x"]\n\tprocess = PROGRAM\n\trequired',
    "a check of signatures": "[gpg]\n\tprogram = SCRIPT\n[log]\n\tshowSignature",
    "a format that checks signatures": '[gpg "openpgp"]\n\tprogram = SCRIPT\n[format]\n\tpretty = %+G?',
    "hooks elsewhere": "[core]\n\thooksPath = FOLDER/hooks",
    "another file": "[include]\n\tpath = FOLDER/more",
    "another file in some cases": '[includeIf "gitdir:/"]\n\tpath = FOLDER/more',
    "another file on some branch": '[includeIf "onbranch:**"]\n\tpath = FOLDER/more',
}
OTHERS = {
    name: f"[{section}]\n\t{key} = PROGRAM"
    for name, section, key in (
        ("a way to sign in", "core", "askPass"),
        ("an editor", "core", "editor"),
        ("an editor of lists", "sequence", "editor"),
        ("a pager", "core", "pager"),
        ("a pager for a command", "pager", "status"),
        ("a way to connect", "core", "sshCommand"),
        ("a proxy", "core", "gitProxy"),
        ("references elsewhere", "core", "alternateRefsCommand"),
        ("other attributes", "core", "attributesFile"),
        ("other patterns", "core", "excludesFile"),
        ("a helper", "credential", "helper"),
        ("a helper for a host", 'credential "https://example.com"', "helper"),
        ("a signer", "gpg", "program"),
        ("a signer of a kind", 'gpg "ssh"', "program"),
        ("a command for keys", 'gpg "ssh"', "defaultKeyCommand"),
        ("a filter of questions", "interactive", "diffFilter"),
        ("a driver for merges", 'merge "x"', "driver"),
        ("a tool for merges", 'mergetool "x"', "cmd"),
        ("a tool for differences", 'difftool "x"', "path"),
        ("a remote of a kind", 'remote "origin"', "vcs"),
        ("a program at the other end", 'remote "origin"', "uploadpack"),
        ("a remote that promises", 'remote "origin"', "promisor"),
        ("another program at the other end", 'remote "origin"', "receivepack"),
        ("what may be transported", 'protocol "ext"', "allow"),
        ("other addresses", 'url "ext::sh"', "insteadOf"),
        ("an update", 'submodule "x"', "update"),
        ("a trailer", 'trailer "x"', "command"),
        ("a trailer of the new kind", 'trailer "x"', "cmd"),
        ("a hook for packs", "uploadpack", "packObjectsHook"),
        ("a hook for old objects", "gc", "recentObjectsHook"),
        ("a hook of the new kind", 'hook "x"', "command"),
        ("an alias", "alias", "whatchanged"),
        ("a browser", 'browser "x"', "cmd"),
        ("a reader of manuals", 'man "x"', "cmd"),
        ("a tool in a window", 'guitool "x"', "cmd"),
        ("mail", "sendemail", "smtpServer"),
        ("mail to whom", "sendemail", "toCmd"),
        ("an archive", 'tar "x"', "command"),
        ("a tunnel", "imap", "tunnel"),
        ("an extension of lfs", 'lfs "extension.x"', "clean"),
        ("a transfer of lfs", 'lfs "customtransfer.x"', "path"),
        ("partial clones", "extensions", "partialClone"),
        ("a working tree elsewhere", "core", "worktree"),
        ("a template", "init", "templateDir"),
        ("a trace", "trace2", "normalTarget"),
        ("a shell", "pretty", "x"),
        ("what nobody knows", "made", "up"),
    )
}


def write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


class Stage:
    """A folder in which one hostile repository is made and then read by git."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.base = folder
        self.folder = folder / "repo"
        shutil.copytree(model, self.folder, symlinks=True)
        self.pwned = folder / "pwned"
        self.program = f"touch {self.pwned}; :"
        self.script = f"#!/bin/sh\ntouch {self.pwned}\n"
        self.watcher = self.fill("[core]\n\tfsmonitor = PROGRAM")

    def fill(self, text: str) -> str:
        """A config in which the program stands as git's format asks for it."""
        script, elsewhere = self.base / "script", self.base / "elsewhere"
        write(script, self.script, 0o755)
        write(elsewhere / "hooks/post-index-change", self.script, 0o755)
        quoted = self.program.replace(";", '";"')
        write(elsewhere / "more", f"[core]\n\tfsmonitor = {quoted}\n")
        text = text.replace('"PRO"GRAM', quoted).replace("PROGRAM", quoted)
        return text.replace("SCRIPT", str(script)).replace("FOLDER", str(elsewhere)) + "\n"

    def configure(self, text: str, git: str = ".git") -> None:
        with (self.folder / git / "config").open("a", newline="") as config:
            config.write(self.fill(text))


def make_model(folder: Path) -> Path:
    """An ordinary repository that has a bit of everything which makes git look at its settings."""
    make_repository(folder)
    write(folder / ".gitattributes", '*.txt diff=x filter=x merge=x\n*.a diff=a]b\n*.q diff=a"b\n')
    for name in ("more.txt", "other.a", "other.q"):
        write(folder / name, "one\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-qm", "two")
    signed = run_git(folder, "cat-file", "commit", "HEAD").split("\n")
    signed[4:4] = ["gpgsig -----BEGIN PGP SIGNATURE-----", " ", " abc", " -----END PGP SIGNATURE-----"]
    commit = run_git(folder, "hash-object", "-t", "commit", "-w", "--stdin", stdin="\n".join(signed)).strip()
    run_git(folder, "reset", "-q", "--hard", commit)
    run_git(folder, "tag", "-a", "-m", "one", "v1")
    for name in ("file.txt", "other.a", "other.q"):
        write(folder / name, "two\n")
    run_git(folder, "stash")
    for name in ("file.txt", "more.txt", "other.a", "other.q"):
        write(folder / name, "three\n")
    return folder


def bare_beside_no_repository(stage: Stage) -> None:
    inner = stage.folder / "inner"
    shutil.copytree(stage.folder / ".git", inner)
    (inner / ".git").mkdir()
    write(inner / "info/attributes", "* diff=x\n")
    write(inner / "config", stage.fill('[diff "x"]\n\ttextconv = PROGRAM'))
    stage.folder = inner


def bare_beside_a_pipe(stage: Stage) -> None:
    bare_beside_no_repository(stage)
    (stage.folder / ".git").rmdir()
    os.mkfifo(stage.folder / ".git")


def bare_by_commondir(stage: Stage) -> None:
    inner = stage.folder / "inner"
    shutil.copytree(stage.folder / ".git", inner / "shared")
    write(inner / "HEAD", "ref: refs/heads/main\n")
    write(inner / "commondir", "shared\n")
    write(inner / "shared/info/attributes", "* diff=x\n")
    write(inner / "shared/config", stage.fill('[diff "x"]\n\ttextconv = PROGRAM'))
    stage.folder = inner


def settings_by_commondir(stage: Stage) -> None:
    git = stage.folder / ".git"
    shutil.copytree(git, stage.folder / "shared")
    write(git / "commondir", "../shared\n")
    write(stage.folder / "shared/config", stage.watcher)


def settings_by_a_link_in_commondir(stage: Stage) -> None:
    """Where the name alone would lead to an ordinary folder."""
    shutil.copytree(stage.folder / ".git", stage.base / "evil/shared")
    shutil.copytree(stage.folder / ".git", stage.folder / "shared")
    (stage.base / "evil/x").mkdir()
    (stage.folder / "link").symlink_to(stage.base / "evil/x")
    write(stage.folder / ".git/commondir", "../link/../shared\n")
    write(stage.base / "evil/shared/config", stage.watcher)


def settings_of_a_worktree(stage: Stage) -> None:
    stage.configure("[extensions]\n\tworktreeConfig = true\n[core]\n\trepositoryformatversion = 1")
    write(stage.folder / ".git/config.worktree", stage.watcher)


def settings_by_a_link(stage: Stage) -> None:
    (stage.folder / ".git/config").rename(stage.base / "config")
    (stage.folder / ".git/config").symlink_to(stage.base / "config")
    with (stage.base / "config").open("a") as config:
        config.write(stage.watcher)


def git_by_a_link(stage: Stage) -> None:
    stage.configure("[core]\n\tfsmonitor = PROGRAM")
    (stage.folder / ".git").rename(stage.folder / "other")
    (stage.folder / ".git").symlink_to("other")


def git_by_a_file(stage: Stage) -> None:
    stage.configure("[core]\n\tfsmonitor = PROGRAM")
    (stage.folder / ".git").rename(stage.folder / "other")
    write(stage.folder / ".git", "gitdir: other\r\n")


def a_hook(stage: Stage) -> None:
    write(stage.folder / ".git/hooks/post-index-change", stage.script, 0o755)


def hooks_by_a_link(stage: Stage) -> None:
    shutil.rmtree(stage.folder / ".git/hooks", ignore_errors=True)
    (stage.folder / ".git/hooks").symlink_to(stage.base / "elsewhere/hooks")


def a_remote_that_promises(stage: Stage) -> None:
    """Reading an object that is not there fetches it, with whatever transport the settings name."""
    missing = run_git(stage.folder, "rev-parse", "HEAD:file.txt").strip()
    (stage.folder / ".git/objects" / missing[:2] / missing[2:]).unlink()
    quoted = f"ext::{stage.base}/script"
    settings = f'[remote "origin"]\n\turl = {quoted}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n'
    stage.configure(f"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n{settings}")


def a_promise_alone(stage: Stage) -> None:
    missing = run_git(stage.folder, "rev-parse", "HEAD:file.txt").strip()
    (stage.folder / ".git/objects" / missing[:2] / missing[2:]).unlink()
    stage.configure(f'[remote "origin"]\n\turl = {stage.base}/nowhere\n\tpromisor = true\n')


def objects_elsewhere(stage: Stage) -> None:
    write(stage.folder / ".git/objects/info/alternates", f"{stage.base}/elsewhere\n")
    stage.configure("[core]\n\talternateRefsCommand = PROGRAM")


def a_repository_inside(stage: Stage) -> None:
    inner = make_repository(stage.folder / "vendor/sub")
    run_git(stage.folder, "add", "vendor/sub")
    with (inner / ".git/config").open("a") as config:
        config.write(stage.watcher)


def a_repository_inside_in_a_split_index(stage: Stage) -> None:
    a_repository_inside(stage)
    run_git(stage.folder, "update-index", "--index-version", "4")
    run_git(stage.folder, "update-index", "--split-index")
    write(stage.folder / "new.txt", "new\n")
    run_git(stage.folder, "add", "new.txt")


def a_submodule(stage: Stage) -> None:
    source = make_repository(stage.base / "source")
    add_submodule(stage.folder, source, "vendor/sub")
    stage.configure("[core]\n\tfsmonitor = PROGRAM", ".git/modules/vendor/sub")


def a_submodule_of_a_submodule(stage: Stage) -> None:
    source = make_repository(stage.base / "source")
    add_submodule(make_repository(stage.base / "middle"), source, "deep")
    add_submodule(stage.folder, stage.base / "middle", "sub")
    run_git(stage.folder, "submodule", "--quiet", "update", "--init", "--recursive")
    stage.configure("[core]\n\tfsmonitor = PROGRAM", ".git/modules/sub/modules/deep")


def differences_inside(stage: Stage) -> None:
    a_repository_inside(stage)
    config = stage.folder / "vendor/sub/.git/config"
    write(config, stage.fill("[diff]\n\texternal = PROGRAM"))
    run_git(stage.folder, "commit", "-qm", "a repository inside")
    run_git(stage.folder, "rm", "-q", "--cached", "vendor/sub")
    run_git(stage.folder, "commit", "-qm", "gone")
    stage.configure("[diff]\n\tsubmodule = diff")


def a_repository_above(stage: Stage) -> None:
    stage.configure("[core]\n\tfsmonitor = PROGRAM")
    (stage.folder / "a/b/.git").mkdir(parents=True)
    stage.folder /= "a/b"


SHAPES: dict[str, Callable[[Stage], None]] = {
    make.__name__.replace("_", " "): make
    for make in (
        bare_beside_no_repository, bare_beside_a_pipe, bare_by_commondir, settings_by_commondir, settings_by_a_link_in_commondir,
        settings_of_a_worktree, settings_by_a_link, git_by_a_link, git_by_a_file, a_hook, hooks_by_a_link, a_remote_that_promises,
        a_promise_alone, a_repository_inside, a_repository_inside_in_a_split_index, a_submodule, a_submodule_of_a_submodule,
        differences_inside, a_repository_above,
    )
}  # fmt: skip
"""All of them run something when they are read."""
VARYING = frozenset({"bare beside a pipe"})
"""Later versions of git refuse them."""
SILENT_SHAPES = {"objects elsewhere": objects_elsewhere}
