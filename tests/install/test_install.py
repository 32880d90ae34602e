"""Everturn is built and installed the ways the documentation names, into places where nothing else is, and runs there."""

import tarfile
import zipfile
from email.parser import HeaderParser

import pytest
from tests.install.environments import (
    ROOT,
    VERSION,
    assert_runs,
    build,
    find_program,
    make_environment,
    pip_install,
    run,
)
from tests.shelf import find_python

pytestmark = pytest.mark.needs("package registry")


@pytest.fixture
def builder():
    """A Python with the build backend."""
    return find_python("hatchling-1", "hatchling>=1.27")


def test_a_wheel_holds_every_file_of_the_package_and_runs_in_an_empty_environment(builder, tmp_path):
    wheel, _ = build(builder, tmp_path)

    packed = names_in(wheel)
    assert packed == files_of_the_package()
    assert {name.split("/")[0] for name in packed} == {"everturn"}  # not `development`, `bench` or `tests`

    binaries = make_environment(tmp_path / "empty")
    pip_install(binaries, wheel)
    assert_runs(binaries / "everturn", tmp_path)
    python = binaries / "python"
    assert run(python, "-m", "everturn", "--version", cwd=tmp_path) == f"everturn {VERSION}\n"
    assert "--script FILE" in run(python, "-m", "everturn.modelserver", "--help", cwd=tmp_path)
    assert run(python, "-c", "import everturn; print(everturn.Engine.__name__)", cwd=tmp_path) == "Engine\n"


def test_an_sdist_holds_what_makes_the_same_wheel_and_no_tests(builder, tmp_path):
    _, sdist = build(builder, tmp_path / "first")

    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    source = tmp_path / f"everturn-{VERSION}"
    assert {path.name for path in source.iterdir()} == {
        *("src", "docs", "examples", ".gitignore", "pyproject.toml", "PKG-INFO"),
        *("README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"),
    }
    wheel, _ = build(builder, tmp_path / "second", source=source)
    assert names_in(wheel) == files_of_the_package()


def test_the_metadata_say_what_it_is_what_it_needs_and_under_which_licence(builder, tmp_path):
    wheel, _ = build(builder, tmp_path)

    with zipfile.ZipFile(wheel) as packed:
        about = f"everturn-{VERSION}.dist-info"
        metadata = HeaderParser().parsestr(packed.read(f"{about}/METADATA").decode())
        assert packed.read(f"{about}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert (metadata["Name"], metadata["Version"]) == ("everturn", VERSION)
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("Apache-2.0", ">=3.11")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload() == (ROOT / "README.md").read_text()
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    extra = [needed.partition(">=")[0] for needed in metadata.get_all("Requires-Dist") if "extra ==" in needed]
    assert (metadata.get_all("Provides-Extra"), extra) == (["mcp"], ["mcp"])


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


def names_in(wheel):
    """But for the metadata."""
    with zipfile.ZipFile(wheel) as packed:
        return {name for name in packed.namelist() if ".dist-info/" not in name}


def files_of_the_package():
    package = ROOT / "src" / "everturn"
    return {
        str(path.relative_to(package.parent))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
