"""Settings files: what is read, what is refused, and the line that an error names."""

import os
import resource
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.core.errors import OptionError
from everturn.settings.files import (
    SettingsText,
    find_line,
    load_given,
    load_settings,
    parse_settings,
    replace_settings,
)


def written(folder: Path, content: bytes) -> Path:
    path = folder / "settings.json"
    path.write_bytes(content)
    return path


def test_a_file_that_is_not_there_holds_nothing(tmp_path):
    assert load_settings(tmp_path / "none.json") is None
    assert load_settings(tmp_path / "none" / "none.json") is None


@pytest.mark.parametrize("content", [b"{}", b" { }\n", b"\xef\xbb\xbf{}"])
def test_a_file_may_hold_nothing(tmp_path, content):
    assert load_settings(written(tmp_path, content)).values == {}


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
def test_what_a_full_disk_leaves_of_a_file_is_not_taken_for_no_rules(tmp_path, content):
    path = written(tmp_path, content)
    with pytest.raises(OptionError) as caught:
        load_settings(path)
    assert (caught.value.field, caught.value.problem) == (
        str(path),
        "is empty, as a full disk leaves files: put back what it held, or write {} into it where that was nothing",
    )


async def test_a_run_ends_where_a_settings_file_was_emptied(program):
    path = program.folder / ".everturn" / "settings.json"
    path.parent.mkdir()
    path.touch()
    done = await program.run("-p", "Go")
    assert (done.code, done.out, program.requests) == (2, "", [])
    assert done.err.startswith(f"everturn: {path}: is empty, as a full disk leaves files")
    doctor = await program.run("doctor")
    assert "is empty, as a full disk leaves files" in doctor.out


async def test_a_disk_that_takes_nothing_leaves_no_empty_settings_behind(program):
    program.home.mkdir(parents=True)
    full = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))}
    async with program.started("config", "set", "model", "opus", **full) as process:
        _, err = await process.communicate()
    assert process.returncode == 2
    assert b"settings.json: cannot be written: " in err
    assert [path.name for path in program.home.iterdir() if "settings" in path.name] == []
    assert (await program.run("config", "get", "model")).code == 0


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b'{\n  "model": "a"\n  "env": {}\n}', ":3", "is not valid JSON: Expecting ',' delimiter (column 3)"),
        (b"[1]", ":1", 'must hold one JSON object, such as {"model": "sonnet"}'),
        (b'{\n"model": "\xff"}', ":2", "is not UTF-8"),
        (b'{"a": NaN}', ":1", "is not valid JSON: invalid character"),
        (b"[" * 100_000, "", "is nested too deeply"),
        (b'{"x": %b}' % (b"1" * 5_000), "", "holds a number that is too long"),
        (b" " * (2 * 1024 * 1024 + 1), "", "is larger than 2,097,152 bytes"),
    ],
)
def test_an_error_names_file_line_and_reason(tmp_path, content, place, reason):
    path = written(tmp_path, content)
    with pytest.raises(OptionError) as caught:
        load_settings(path)
    assert (caught.value.field, caught.value.problem) == (f"{path}{place}", reason)


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OptionError):
            load_settings(path)


def test_given_settings_are_json_or_a_file_that_is_there(tmp_path):
    path = written(tmp_path, b'{"model": "a"}')
    assert load_given(' {"model": "b"}').values == {"model": "b"}
    assert load_given(str(path)).values == {"model": "a"}
    for wrong in ("none.json", "", "\0", "{"):
        with pytest.raises(OptionError):
            load_given(wrong)


def test_a_file_is_replaced_in_one_step_and_a_link_stays_a_link(tmp_path):
    real = written(tmp_path, b"{}")
    real.chmod(0o600)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    replace_settings(link, {"model": "opus"})
    assert link.is_symlink()
    assert real.read_text("utf-8") == '{\n  "model": "opus"\n}\n'
    assert real.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "settings.json"]


def test_the_line_is_that_of_the_key():
    text = '{\n  "a": [1,\n  2],\n  "b": {\n    "c": {"d": 1},\n    "e": "}"\n  }\n}'
    assert [find_line(text, path) for path in [("a",), ("b",), ("b", "c", "d"), ("b", "e"), ("z",)]] == [2, 4, 5, 6, 1]


KEYS = st.text(max_size=5)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_each_key_is_found_on_its_own_line(values):
    text = msgspec.json.format(msgspec.json.encode(values), indent=2).decode()
    lines = text.split("\n")
    for key in values:
        line = lines[find_line(text, (key,)) - 1]
        assert line.startswith(f"  {msgspec.json.encode(key).decode()}: ")


@given(st.text(max_size=30))
def test_any_text_is_settings_or_one_error(text):
    with suppress(OptionError):
        assert isinstance(parse_settings(text, "here"), SettingsText)
