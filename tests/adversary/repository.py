"""Working folders that a stranger could have made: links that lead out, names that look like options, settings that name programs."""

import os
import subprocess
from pathlib import Path

from tests.adversary.house import GIT

CANARY = "canary42"
SCRIPT = "#!/bin/sh\necho canary$((40 + 2)); touch ../outside/ran; exit 0\n"
"""Its text is another than what it prints: to show it is no harm."""
KINDS = ("plain", "programs", "pointing", "alternates", "promisor", "bare")
FILES = {
    "a.txt": "alpha\nbeta\ngamma 3\n",
    "b.txt": "beta\nalpha\n\n1 2 3\n",
    "data.json": '{"a": [1, 2], "b": "x"}\n',
    "main.py": "import os\n\n\ndef main():\n    return os.environ\n",
    "with space.txt": "one two\n",
    "new\nline.txt": "three\n",
    "-rf": "x\n",
    "--output=x": "x\n",
    "--pre=sh": "x\n",
    "-exec": "x\n",
    "-f": "x\n",
    "@a.txt": "x\n",
    "deep/er/c.txt": "alpha deep\n",
    "src/one.c": "int main(void) { return 0; }\n",
    "script.sed": "w ../outside/by-sed\n1e touch ../outside/by-sed-e\nr ../secret\n",
    "prog.awk": 'BEGIN { system("touch ../outside/by-awk"); while ((getline l < "../secret") > 0) print l }\n',
    "prog.jq": 'import "../secret" as $x; $x\n',
    ".jq": 'def x: input_filename; include "../secret";\n',
    ".ripgreprc": "--pre=./canary\n--hidden\n",
    ".inputrc": '"a": "\\C-k!./canary\\n"\n$include ../secret\n',
    ".wgetrc": "output_document = ../outside/by-wget\n",
    ".lesskey": "#command\na shell ./canary\\n\n",
    ".curlrc": "output = ../outside/by-curl\nurl = file:///etc/passwd\n",
    ".bashrc": "touch ../outside/by-bashrc\n",
    ".editorconfig": "root = true\n",
    ".gitignore": "ignored\n",
    ".gitattributes": "*.txt diff=evil filter=evil\n*.py diff=evil merge=evil\n",
    ".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c touch% ../outside/by-submodule\n\tupdate = !touch ../outside/by-submodule\n',
    ".everturn/settings.json": "{}",
    ".claude/settings.json": "{}",
    ".mcp.json": "{}",
    ".vscode/tasks.json": "{}",
    "names": "../secret\n../outside/secret\na.txt\n",
    "locale/C/LC_MESSAGES/coreutils.mo": "x",
}
LISTED = "a.txt\0../secret\0../outside/secret\0"
LINKS = {
    "out-file": "../secret",
    "out-folder": "../outside",
    "out-home": "../home",
    "out-key": "../home/.ssh/id_rsa",
    "shadow": "/etc/shadow",
    "environ": "/proc/self/environ",
    "mem": "/proc/self/mem",
    "rootfolder": "/var/spool",
    "dangling": "../outside/not-there",
    "loop-1": "loop-2",
    "loop-2": "loop-1",
    "inside": "a.txt",
    "deep/up": "../..",
    "deep/inside": "er",
    "src/secret.c": "../../secret",
}
PROGRAMS = (
    "canary",
    "ls",
    "cat",
    "git",
    "rg",
    "less",
    "sort",
    "sh",
    "bash",
    "env",
    "find",
    "bin/ls",
    "bin/cat",
    "bin/rg",
    "bin/git",
    "bin/sh",
)
SETTINGS = """[core]
\trepositoryformatversion = 0
\tbare = false
\tfsmonitor = ./canary
\tpager = ./canary
\teditor = ./canary
\tsshCommand = ./canary
\thooksPath = bin
\taskPass = ./canary
\tgitProxy = ./canary
[diff]
\texternal = ./canary
[diff "evil"]
\ttextconv = ./canary
\tcommand = ./canary
[filter "evil"]
\tclean = ./canary
\tsmudge = ./canary
\tprocess = ./canary
[merge "evil"]
\tdriver = ./canary
[interactive]
\tdiffFilter = ./canary
[gpg]
\tprogram = ./canary
[log]
\tshowSignature = true
[credential]
\thelper = ./canary
[alias]
\tst = !./canary
[include]
\tpath = ../secret
[pager]
\tlog = ./canary
\tdiff = ./canary
[trailer "x"]
\tcommand = ./canary
"""
PROMISOR = """[core]
\trepositoryformatversion = 1
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = ext::./canary %S x
\tpromisor = true
\tuploadpack = ./canary
[protocol "ext"]
\tallow = always
"""


def build(house, kind):
    """And what of it a command may name: ids of objects."""
    work = house.work
    for name, text in FILES.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    (work / "list0").write_bytes(LISTED.encode())
    for name, target in LINKS.items():
        (work / name).symlink_to(target)
    for name in PROGRAMS:
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(SCRIPT)
        (work / name).chmod(0o755)
    (work / "ignored").mkdir()
    (work / "empty").mkdir()
    shape_bare(work / "bare-shape")
    hidden = build_foreign(house)
    own = build_own(house)
    match kind:
        case "programs":
            (work / ".git" / "config").write_text(SETTINGS)
            for hook in ("post-index-change", "pre-commit", "fsmonitor-watchman", "post-checkout"):
                (work / ".git" / "hooks").mkdir(exist_ok=True)
                (work / ".git" / "hooks" / hook).write_text(SCRIPT)
                (work / ".git" / "hooks" / hook).chmod(0o755)
        case "pointing":
            move(work / ".git", work / "moved-git")
            (work / ".git").write_text("gitdir: ../outside/repository/.git\n")
        case "alternates":
            (work / ".git/objects/info").mkdir(exist_ok=True)
            (work / ".git/objects/info/alternates").write_text(f"{house.outside}/repository/.git/objects\n")
        case "promisor":
            (work / ".git/config").write_text(PROMISOR)
        case "bare":
            move(work / ".git", work / "moved-git")
            shape_bare(work)
    return [own, hidden]


def move(path, target):
    path.rename(target)


def shape_bare(folder):
    for name in ("objects", "refs/heads", "hooks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(SETTINGS.replace("bare = false", "bare = true\n\tworktree = .."))
    (folder / "hooks/post-index-change").write_text(SCRIPT)
    (folder / "hooks/post-index-change").chmod(0o755)


def build_own(house):
    run(house.work, "init", "-q", "--template=", "-b", "main")
    # Where there is none, something stands for it while an edit runs, and a moment longer.
    (house.work / ".git" / "hooks").mkdir()
    plain = ["a.txt", "b.txt", "data.json", "main.py", "deep/er/c.txt", "src/one.c", ".gitignore"]
    run(house.work, "add", *plain)
    run(house.work, "commit", "-qm", "first")
    Path(house.work, "b.txt").write_text("beta\nalpha changed\n")
    run(house.work, "commit", "-qam", "second")
    run(house.work, "tag", "v1")
    run(house.work, "branch", "other")
    Path(house.work, "a.txt").write_text("alpha\nbeta\nedited\n")
    run(house.work, "add", ".gitattributes")
    # A repository inside, as a submodule would be.
    inner = house.work / "nested"
    inner.mkdir()
    run(inner, "init", "-q", "--template=", "-b", "main")
    (inner / ".git/config").write_text(SETTINGS)
    (inner / "n.txt").write_text("nested\n")
    return run(house.work, "rev-parse", "HEAD:a.txt").strip()


def build_foreign(house):
    """Outside, with the secret in its history."""
    folder = house.outside / "repository"
    folder.mkdir()
    run(folder, "init", "-q", "--template=", "-b", "main")
    (folder / "secret").write_text(f"{house.token}\n")
    run(folder, "add", "secret")
    run(folder, "commit", "-qm", f"holds {house.token}")
    return run(folder, "rev-parse", "HEAD:secret").strip()


def run(folder, *words):
    person = (
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.com",
        "-c",
        "safe.directory=*",
        "-c",
        "commit.gpgsign=false",
    )
    env = {"PATH": os.defpath, "HOME": "/nonexistent", **GIT}
    done = subprocess.run(["git", *person, *words], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout
