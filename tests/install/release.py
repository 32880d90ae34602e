"""`make dist`: the wheel and the sdist, checked, and each installed and tried as the people do who download it.

python -m tests.install.release
"""

import re
import shutil
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.install.environments import ROOT, VERSION, assert_runs, build, make_environment, pip_install, run

DIST = ROOT / "dist"
IMPORTS = "import everturn; everturn.Engine"


def main() -> None:
    check_changelog()
    shutil.rmtree(DIST, ignore_errors=True)
    with TemporaryDirectory(prefix="everturn-dist-") as name:
        folder = Path(name)
        tell("build")
        tools = make_environment(folder / "tools")
        pip_install(tools, "hatchling>=1.27", "twine>=6.1")
        wheel, sdist = build(tools / "python", DIST)
        tell("check the metadata")
        run(tools / "python", "-m", "twine", "check", "--strict", wheel, sdist, cwd=folder)
        for made in (wheel, sdist):
            tell(f"install {made.name} in an empty environment, and run the demo from there")
            try_out(made, folder / made.name)
        check_wheel(wheel)
    for made in (wheel, sdist):
        size = made.stat().st_size / 1_000
        tell(f"{made.relative_to(ROOT)}  {size:,.0f} kB  sha256 {sha256(made.read_bytes()).hexdigest()}")


def check_changelog() -> None:
    if not re.search(
        rf"^## {re.escape(VERSION)} - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    ):
        raise AssertionError(f"CHANGELOG.md has no section for {VERSION} with a date")


def check_wheel(wheel: Path) -> None:
    """Nothing but the package and its metadata, and the mark for type checkers."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    if {name.split("/")[0] for name in names} != {"everturn", f"everturn-{VERSION}.dist-info"}:
        raise AssertionError(f"{wheel.name} holds more than the package")
    if "everturn/py.typed" not in names:
        raise AssertionError(f"{wheel.name} has no py.typed")


def try_out(made: Path, folder: Path) -> None:
    binaries = make_environment(folder)
    pip_install(binaries, made)
    assert_runs(binaries / "everturn", folder)
    run(binaries / "python", "-c", IMPORTS, cwd=folder)


def tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a program


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failed:
        sys.exit(str(failed))
