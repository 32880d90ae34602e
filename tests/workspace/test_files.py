"""Files are read with all that is needed to write them back, and replaced in one step."""

import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import ToolFault
from everturn.ports.judged_paths import JudgedPath
from everturn.workspace.files import MAX_BYTES, LocalFiles, exists, load_bytes, read_file, replace_file
from everturn.workspace.text import Newline, decode_text, encode_text, is_binary

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1"]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | st.text(st.sampled_from("a\r\né"), max_size=30).map(str.encode))
def test_no_byte_is_lost_between_decoding_and_encoding(data):
    if not is_binary(data) and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert encode_text(*decode_text(data)) == data


@settings(max_examples=100, deadline=None)
@given(
    lines=st.lists(
        st.text(st.characters(exclude_characters="\r\n\0\ufeff", max_codepoint=0xFF), max_size=5), max_size=6
    ),
    encoding=st.sampled_from(ENCODINGS),
    newline=st.sampled_from([Newline.LF, Newline.CRLF, Newline.CR]),
)
def test_a_file_written_like_another_has_its_form(tmp_path_factory, lines, encoding, newline):
    path = tmp_path_factory.mktemp("form") / "file"
    text = "\n".join(["first é", *lines, ""])
    path.write_bytes(encode_text(text, encoding, newline))

    before = read_file(str(path))
    replace_file(str(path), text + "ü\n", like=before)

    after = read_file(str(path))
    assert (before.text, before.encoding, before.newline) == (text, encoding, newline)
    assert (after.text, after.encoding, after.newline) == (text + "ü\n", encoding, newline)


def test_the_stamp_that_replacing_gives_is_the_stamp_that_reading_gives(tmp_path):
    path = str(tmp_path / "a")

    stamp = replace_file(path, "text\n")

    assert read_file(path).stamp == stamp
    assert LocalFiles().changed(path, stamp) is False


def test_mixed_line_ends_stay_in_the_text(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"a\r\nb\nc\r")

    file = read_file(str(path))

    assert (file.text, file.newline) == ("a\r\nb\nc\r", Newline.MIXED)


def test_a_new_file_gets_the_mode_that_the_umask_leaves(tmp_path):
    old = os.umask(0o027)
    try:
        replace_file(str(tmp_path / "a"), "x")
    finally:
        os.umask(old)

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_to_nothing_makes_its_target(tmp_path):
    (tmp_path / "link").symlink_to("target")

    replace_file(str(tmp_path / "link"), "x")

    assert (tmp_path / "target").read_text() == "x"
    assert (tmp_path / "link").is_symlink()


def test_a_file_that_appeared_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "a"
    path.write_text("theirs")

    with pytest.raises(ToolFault, match="exists already"):
        replace_file(str(path), "ours")

    assert path.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["a"]  # noqa: PTH208 - nothing is left beside it


def test_a_file_that_changed_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    seen = read_file(str(path))
    path.write_text("two")

    with pytest.raises(ToolFault, match="has changed on disk"):
        replace_file(str(path), "ours", like=seen)

    assert path.read_text() == "two"
    assert os.listdir(tmp_path) == ["a"]  # noqa: PTH208 - nothing is left beside it


def test_a_file_swapped_for_a_link_does_not_lead_the_write_astray(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "a"
    victim.write_text("precious")
    path.write_text("one")
    seen = read_file(str(path))
    path.unlink()
    path.symlink_to("victim")

    with pytest.raises(ToolFault, match="has changed on disk"):
        replace_file(str(path), "two", like=seen)

    assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: path.mkdir(), "is a folder"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (lambda path: path.write_bytes(b"\0\1"), "is a binary file"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00\xd8"), "not valid UTF-16"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00\x00a\x00\x00\x00"), "is a binary file"),
        (lambda path: path.symlink_to("/proc/self/environ"), "environment of a process"),
        (str, "does not exist"),
    ],
)
def test_what_is_no_text_file_is_refused_with_a_reason(tmp_path, make, text):
    path = tmp_path / "thing"
    make(path)

    with pytest.raises(ToolFault, match=text):
        read_file(str(path))


def test_a_file_beyond_the_limit_is_not_loaded(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)

    with pytest.raises(ToolFault, match="larger than 50 MB"):
        load_bytes(str(path))


@pytest.mark.parametrize("path", ["/" + "d/" * 4_000, "/tmp/" + "x" * 300, "\ud800", "/etc/hostname/x"])
def test_an_impossible_path_is_a_clean_error(path):
    with pytest.raises(ToolFault):
        read_file(path)


def test_half_a_surrogate_pair_is_not_written(tmp_path):
    with pytest.raises(ToolFault, match="half of a surrogate pair"):
        replace_file(str(tmp_path / "a"), "x\ud800")

    assert not exists(str(tmp_path / "a"))


def test_a_change_is_seen_and_a_touch_is_not(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    stamp = read_file(str(path)).stamp
    files = LocalFiles()

    os.utime(path, (1, 1))
    assert files.changed(str(path), stamp) is False
    path.write_text("two")
    assert files.changed(str(path), stamp) is True
    path.unlink()
    assert files.changed(str(path), stamp) is True


def test_a_file_that_may_not_be_read_now_counts_as_changed_and_is_not_loaded(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    stamp = read_file(str(path)).stamp
    os.utime(path, (1, 1))
    closed, elsewhere, open_ = (
        LocalFiles(judge)
        for judge in (
            lambda _: None,
            lambda _: JudgedPath(target=str(tmp_path / "b")),
            lambda path: JudgedPath(target=path),
        )
    )

    assert [files.changed(str(path), stamp) for files in (closed, elsewhere, open_)] == [True, True, False]
    assert [files.load(str(path), 100) is None for files in (closed, elsewhere, open_)] == [True, True, False]
