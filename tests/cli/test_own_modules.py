"""The program loads its own modules, wherever the environment leads: what commands write into the working folder never runs as us."""

import pkgutil

import pytest
from PIL import Image

from everturn.modelserver import call

NAMES = sorted(
    {"tempfile", "shutil", "glob", "copy", "difflib", "tomllib", "sqlite3", "html", "PIL", "fnmatch", "secrets"}
)
"""Modules that the program imports late, and some that others would."""


def plant(folder, marker):
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(marker)!r}, 'a').write('{name} ')\nraise ImportError\n")


@pytest.mark.parametrize("path", ["{work}/src", "src", ".", ":/nowhere", "{work}/src:/nowhere"])
async def test_no_module_of_the_working_folder_is_loaded_where_the_path_of_modules_leads_there(program, tmp_path, path):
    work, marker = program.folder, tmp_path / "ran"
    plant(work / "src", marker)
    plant(work, marker)
    Image.new("RGB", (4_000, 30)).save(work / "a.png")
    program.model(
        [
            call("Read", {"file_path": str(work / "a.png")}),
            call("Grep", {"pattern": "x"}),
            call("Bash", {"command": "ls; mkdir d"}),
        ],
        [call("Write", {"file_path": str(work / "new.py"), "content": "x"}), call("Glob", {"pattern": "*"})],
        "Done.",
    )

    done = await program.run("-p", "Go", "--permission-mode", "acceptEdits", env={"PYTHONPATH": path.format(work=work)})

    assert (done.code, marker.exists()) == (0, False), done.err


async def test_other_modules_of_that_path_stay(program, tmp_path):
    """Somebody may have installed us that way."""
    (tmp_path / "elsewhere").mkdir()
    program.model("Done.")

    done = await program.run("-p", "Go", env={"PYTHONPATH": str(tmp_path / "elsewhere")})

    assert (done.code, done.out) == (0, "Done.\n")


def test_the_names_are_modules():
    assert {module.name for module in pkgutil.iter_modules()} >= set(NAMES)
