"""Everturn is installed the ways the documentation names, into places where nothing else is, and runs there."""

import zipfile
from importlib.metadata import version

import pytest
from tests.install.environments import ROOT, build_wheel, find_program, make_environment, pip_install, run

pytestmark = pytest.mark.needs("package registry")
VERSION = f"everturn {version('everturn')}\n"


def assert_runs(everturn, folder):
    home = folder / "home"
    home.mkdir()
    assert run(everturn, "--version", cwd=folder, HOME=home) == VERSION
    shown = run(everturn, "demo", "--fast", cwd=folder, HOME=home)
    assert "✓ all 4 pass" in shown
    assert "went on by   4 next_turn, 1 max_output_tokens_escalate" in shown
    assert list(home.iterdir()) == []


def test_a_wheel_holds_every_file_of_the_package_and_runs_in_an_empty_environment(tmp_path):
    wheel = build_wheel(tmp_path)

    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == files_of_the_package()

    binaries = make_environment(tmp_path / "empty")
    pip_install(binaries, wheel)
    assert_runs(binaries / "everturn", tmp_path)
    python = binaries / "python"
    assert run(python, "-m", "everturn", "--version", cwd=tmp_path) == VERSION
    assert "--script FILE" in run(python, "-m", "everturn.modelserver", "--help", cwd=tmp_path)
    assert run(python, "-c", "import everturn; print(everturn.Options().model)", cwd=tmp_path) == "None\n"


@pytest.mark.parametrize(
    ("program", "command"), [("pipx", ("install",)), ("uv", ("tool", "install"))], ids=["pipx", "uv"]
)
def test_the_tool_installers_put_the_program_on_the_path(program, command, tmp_path):
    shelf = tmp_path / "bin"
    places = {
        "PIPX_HOME": tmp_path / "pipx",
        "PIPX_BIN_DIR": shelf,
        "UV_TOOL_DIR": tmp_path / "uv",
        "UV_TOOL_BIN_DIR": shelf,
        "UV_CACHE_DIR": tmp_path / "uv-cache",
        "UV_SYSTEM_CERTS": "1",
    }

    run(find_program(program, tmp_path), *command, ROOT, cwd=tmp_path, **places)

    assert_runs(shelf / "everturn", tmp_path)


def files_of_the_package():
    package = ROOT / "src" / "everturn"
    return {
        str(path.relative_to(package.parent))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
