"""Glob: patterns, order, limits and what is never looked into."""

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import InputFault, ToolFault
from everturn.ports.abort import AbortSignal
from everturn.tools.glob import FoundFiles, find_files, glob_tool
from everturn.tools.wildcards import translate_glob

GLOB = glob_tool()


async def found(desk, pattern, **fields):
    return (await desk.use(GLOB, pattern=pattern, **fields)).content.splitlines()


async def test_the_newest_comes_first(desk):
    for age, name in enumerate(["new.py", "mid.py", "old.py"]):
        os.utime(desk.write(name, ""), (1_000 - age, 1_000 - age))

    assert await found(desk, "*.py") == ["new.py", "mid.py", "old.py"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.py", {"a.py"}),
        ("./*.py", {"a.py"}),
        ("**/*.py", {"a.py", "src/b.py", "src/deep/c.py", ".hidden/d.py"}),
        ("src/**", {"src/b.py", "src/deep/c.py", "src/deep/e.ts"}),
        ("src/*/*.{py,ts}", {"src/deep/c.py", "src/deep/e.ts"}),
        ("{src,.hidden}/*.py", {"src/b.py", ".hidden/d.py"}),
        ("src/[a-c].py", {"src/b.py"}),
        ("src/[!a].py", {"src/b.py"}),
        ("**/?.ts", {"src/deep/e.ts"}),
        ("nothing", {"No files found."}),
        ("src", {"No files found.", "('src' is a folder, and only files are found: use `src/**`.)"}),
    ],
)
async def test_patterns_mean_what_a_shell_means(desk, pattern, names):
    for name in ["a.py", "src/b.py", "src/deep/c.py", ".hidden/d.py", "src/deep/e.ts", ".git/f.py"]:
        desk.write(name, "")

    assert set(await found(desk, pattern)) == names


async def test_a_flood_is_cut_and_said(desk, shown):
    for number in range(120):
        desk.write(f"{number}.txt", "")

    result = await desk.use(GLOB, pattern="*.txt")

    assert result.content.endswith("\n(The newest 100 of 120 files. Use a narrower pattern to see others.)")
    form = shown(result)
    assert {key: form[key] for key in form if key not in {"filenames", "durationMs"}} == {
        "numFiles": 100,
        "truncated": True,
        "totalMatches": 120,
        "countIsComplete": True,
    }


async def test_a_folder_outside_is_named_in_full(desk, tmp_path):
    outside = tmp_path.resolve() / "other"
    outside.mkdir()
    (outside / "x.txt").touch()

    assert await found(desk, "*", path=str(outside)) == [f"{outside}/x.txt"]


async def test_a_loop_of_links_is_not_followed_and_a_link_to_a_file_is_found(desk):
    desk.write("sub/a.txt", "")
    (desk.folder / "sub/loop").symlink_to("..")
    (desk.folder / "sub/link.txt").symlink_to("a.txt")

    assert set(await found(desk, "**/*.txt")) == {"sub/a.txt", "sub/link.txt"}


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "a/../../*", "~/x"])
async def test_a_pattern_that_leaves_its_folder_is_refused_where_nobody_has_put_it_right(desk, pattern):
    with pytest.raises(InputFault, match=r"`pattern`.*relative to `path`"):
        await GLOB.run(GLOB.parse({"pattern": pattern}), desk.context)


async def test_a_path_that_is_no_folder_is_refused(desk):
    desk.write("a.txt", "")

    with pytest.raises(ToolFault, match="is not a folder"):
        await desk.use(GLOB, pattern="*", path="a.txt")
    with pytest.raises(ToolFault, match=r"does not exist\. Did you mean"):
        await desk.use(GLOB, pattern="*", path="b.txt")


async def test_names_that_are_not_text_are_found_and_shown(desk):
    (desk.folder / os.fsdecode(b"caf\xe9.txt")).touch()
    (desk.folder / "two\nlines.txt").touch()

    assert set(await found(desk, "*.txt")) == {"caf\ufffd.txt", "two", "lines.txt"}


async def test_strange_things_do_not_stop_the_walk(desk):
    os.mkfifo(desk.folder / "pipe")
    (desk.folder / "broken").symlink_to("nowhere")
    (desk.folder / "self").symlink_to("self")
    (desk.folder / "closed").mkdir(mode=0)
    desk.write("a.txt", "")

    assert set(await found(desk, "**")) == {"pipe", "broken", "self", "a.txt"}
    (desk.folder / "closed").chmod(0o700)


async def test_of_the_same_age_the_path_decides(desk):
    for name in ["b", "c/a", "a", "c/b"]:
        os.utime(desk.write(name, ""), (1_000, 1_000))

    assert await found(desk, "**") == ["a", "b", "c/a", "c/b"]


async def test_a_pattern_does_not_lead_through_a_link_or_into_git(desk):
    desk.write("real/a.txt", "")
    desk.write(".git/config", "")
    (desk.folder / "link").symlink_to("real")

    assert await found(desk, "link/*.txt") == ["No files found."]
    assert await found(desk, ".git/*") == ["No files found."]


async def test_a_tree_that_takes_too_long_is_answered_in_part(desk):
    for number in range(2_500):
        (desk.folder / str(number)).touch()

    part = find_files(str(desk.folder), "*", desk.abort, max_wait_s=0)
    whole = find_files(str(desk.folder), "*", desk.abort)

    assert (part.complete, part.total) == (False, 0)
    assert (whole.complete, whole.total, len(whole.paths)) == (True, 2_500, 100)


NAMES = st.sampled_from(["a", "b.py", "c.ts", ".d", "ab", "e f"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@settings(max_examples=100, deadline=None)
@given(
    st.sets(PATHS, max_size=8),
    st.lists(
        st.sampled_from(["*", "**", "a", "b.py", "*.{py,ts}", "?", "{a,ab/b.py}", "[ab]*"]), min_size=1, max_size=3
    ),
)
def test_what_is_found_is_what_fits_among_all_files(paths, segments):
    pattern = "/".join(segments)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        for path in sorted(paths):
            with suppress(OSError):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).touch()
        every = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}

        assert set(find_files(str(root), pattern, AbortSignal()).paths) == {
            path for path in every if re.fullmatch(translate_glob(pattern), path)
        }


async def test_an_abort_ends_the_walk(desk):
    desk.write("a.txt", "")
    desk.abort.abort()

    assert find_files(str(desk.folder), "*", desk.abort).complete is False


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab*?[]{},!-\\/.^"), max_size=10))
def test_every_pattern_has_a_meaning(pattern):
    re.compile(translate_glob(pattern))


def test_a_folder_that_is_a_link_by_now_is_not_entered(desk):
    outside = desk.folder.parent / "outside"
    outside.mkdir()
    (outside / "outside.txt").write_text("")
    desk.write("top/first.txt", "")
    desk.write("top/d/inside.txt", "")

    def swap(path):
        """As quick as can be: between the listing of one folder and that of the next."""
        if path.endswith("/first.txt"):
            (desk.folder / "top" / "d").rename(desk.folder / "d")
            (desk.folder / "top" / "d").symlink_to(outside)
        return False

    assert find_files(str(desk.folder / "top"), "**/*.txt", desk.abort, hides=swap).paths == ("first.txt",)


def test_a_root_that_is_a_link_by_now_is_refused(desk):
    (desk.folder / "link").symlink_to(desk.folder)

    with pytest.raises(ToolFault, match="The path changed while it was being judged"):
        find_files(str(desk.folder / "link"), "*", desk.abort)


def test_very_deep_trees_are_told_as_incomplete_and_leave_no_descriptors(desk):
    level = desk.folder
    for _ in range(220):
        (level / "b").mkdir(parents=True)
        (level / "a").mkdir()
        level /= "a"
    before = len(list(Path("/dev/fd").iterdir()))

    found = find_files(str(desk.folder), "**/*.txt", desk.abort)

    assert found == FoundFiles(paths=(), total=0, complete=False)
    assert len(list(Path("/dev/fd").iterdir())) == before
