"""Lines that change files in the mode acceptEdits: what one part makes, the next must not be judged without."""

import subprocess

import pytest

from everturn.permissions.policy import RulePolicy
from everturn.permissions.rules_in_force import Workplace
from everturn.ports.holding import KnownWalls
from everturn.ports.policy import Call
from everturn.ports.tool import Traits

SET_UP = """
mkdir -p fix/sub fix/tree/.vscode tree/sub pkg/deep/.vscode pkg/rel rel g in docs src build lib node/p
echo mine > fix/tree/.vscode/tasks.json; echo mine > fix/tree/AGENTS.md; echo t > tree/ok; ln -s fix/sub top
echo mine > pkg/deep/.vscode/tasks.json; ln -s in/tasks.json rel/l; ln -s ../deep/.vscode pkg/rel/in
echo evil > g/config; echo evil > evil; echo 1 > git; ln -s x in/l
echo a > src/a.py; echo b > src/b.py; echo r > README.md; echo l > a.log; ln -s README.md link
echo s > ../second; ln ../second lib/store.js; ln -s p node/q
"""
ASKED = [
    # `..` behind a link.
    "cp -r top/../tree pkg/n",
    "rm -r top/../tree",
    "mv top/../tree pkg/n",
    "cp -rT top/../tree pkg/n",
    "cp -r top/.. pkg/n",
    # A link that is copied leads through what is there already.
    "cp -r rel pkg && echo evil > pkg/rel/l",
    "cp -rT rel pkg/rel && cp evil pkg/rel/l",
    "cp -r rel/. pkg/rel",
    "cp -r rel pkg",
    "mkdir dst && cp -r rel/. src/. dst",
    "mkdir -p n/rel dst && cp -r rel n/rel dst",
    "cp -r rel new && echo evil > new/l",
    "cp -r rel new && touch new/l",
    "rm -rf docs && cp -r rel docs && echo evil > docs/l",
    "cp -r rel docs; cd docs/rel && echo evil > l",
    # Second names.
    "mv lib lib2 && echo evil > lib2/store.js",
    "mv lib lib2 && cp evil lib2/store.js",
    "mv lib lib2 && touch lib2/store.js",
    "mv -T lib docs && sed -i s/a/b/ docs/store.js",
    "mv lib docs && echo evil > docs/lib/store.js",
    "mv lib/store.js x",
    "echo evil > lib2/store.js & mv lib lib2",
    "for i in 1 2; do echo evil > lib2/store.js; mv lib lib2; done",
    # What the line itself puts into a folder.
    "mkdir q && mv g q/git && mv q pkg/.config",
    "mkdir q && cp -r g q/git && mv q pkg/.config",
    "mkdir q && cp evil q/git && mv q pkg/.config",
    "mkdir q && cp git q && mv q pkg/.config",
    "mkdir q && echo evil > q/git && mv q pkg/.config",
    "mkdir q && mkdir q/git && mv q pkg/.config",
    "rm README.md && mkdir README.md && echo evil > README.md/git && mv README.md pkg/.config",
    "mkdir pkg/.config && mv git pkg/.config",
    "mkdir pkg/.config && cp git pkg/.config",
    "cp -r g q && mv q pkg/.config/git",
    "rm top && mkdir top && cp evil top/../b",
    # Stars.
    "rm pkg/deep/.vscode/*",
    "rm -rf *",
    "mv fix/tree/* pkg",
    "mv lib/* docs",
    "touch x.log && rm *.log",
    "mv tree docs && rm -r docs/*",
    "rm -f .*",
    # Others.
    "sed -i.bak s/a/b/ link",
    "sed -i../x s/a/b/ README.md",
    "sed -i'*/x' s/a/b/ README.md",
    "chmod u+s evil",
    "chmod 777 evil",
    "mkdir -m 777 new",
    "mkdir -pm 4755 new",
    "mkdir --mode=o+w new",
    "chmod -R +x src",
    "chmod +x lib/store.js",
    "rm ../outward",
    "cp README.md{,/../../x}",
]
RUNS = [
    "cp src/*.py docs/",
    "mkdir -m 755 new",
    "mkdir -pm700 new",
    "mkdir -p out && cp src/*.py out/",
    "rm -f *.log",
    "rm -f *.none",
    "sed -i.bak s/a/b/ src/a.py",
    "cd src && mv a.py c.py",
    "cd src && echo x > new.py",
    "cp README.md{,.bak}",
    "mv src/{a,b}.py docs",
    "touch -d yesterday README.md",
    "chmod +x src/b.py",
    "chmod 755 src/a.py",
    "rm -rf build && mkdir build && cp README.md build/",
    "rm -rf build && cp -r src build",
    "cp -r src src2",
    "cp -r rel fresh",
    "cp -r node nm2",
    "mkdir -p x && cp README.md x/ && mv x y",
    "mkdir -p a/b/c && touch a/b/c/__init__.py",
    "mv src/a.py src/c.py && sed -i s/a/b/ src/c.py",
    "touch a && mv a b && cp b c",
    "cp -r src docs && echo x > docs/new.md",
    "echo x > notes && mv notes docs/",
]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    subprocess.run(["bash", "-ec", SET_UP], cwd=folder, check=True)
    (folder.parent / "outward").symlink_to("project/README.md")
    (folder / "AGENTS.md").write_text("mine")
    return folder


def judge(folder, line):
    workplace = Workplace(folder=str(folder), home=str(folder.parent / "home"))
    policy = RulePolicy("acceptEdits", workplace, walls=lambda: KnownWalls(reads=True, edits=True))
    return policy.judge(Call(id="1", name="Bash", input={"command": line}, traits=Traits(), line="Bash"))


@pytest.mark.parametrize("line", ASKED)
def test_what_is_not_known_before_the_line_runs_is_asked_about(project, line):
    assert str(judge(project, line).ruling) == "ask"


@pytest.mark.parametrize("line", RUNS)
def test_what_is_known_runs(project, line):
    judged = judge(project, line)

    assert (str(judged.ruling), judged.reason) == (
        "allow",
        "mode acceptEdits: it changes files of the working folder",
    )
