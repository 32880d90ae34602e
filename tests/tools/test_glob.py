"""Glob: patterns, order, limits and what is never looked into."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.errors import InputFault, ToolFault
from everturn.tools.glob import find_files, glob_tool
from everturn.tools.globs import translate_glob

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
        ("src", {"No files found."}),
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
async def test_a_pattern_that_leaves_its_folder_is_refused(desk, pattern):
    with pytest.raises(InputFault, match=r"`pattern`.*relative to `path`"):
        await desk.use(GLOB, pattern=pattern)


async def test_a_path_that_is_no_folder_is_refused(desk):
    desk.write("a.txt", "")

    with pytest.raises(ToolFault, match="is not a folder"):
        await desk.use(GLOB, pattern="*", path="a.txt")
    with pytest.raises(ToolFault, match=r"does not exist\. Did you mean"):
        await desk.use(GLOB, pattern="*", path="b.txt")


async def test_an_abort_ends_the_walk(desk):
    desk.write("a.txt", "")
    desk.abort.abort()

    assert find_files(str(desk.folder), "*", desk.abort).complete is False


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab*?[]{},!-\\/.^"), max_size=10))
def test_every_pattern_has_a_meaning(pattern):
    import re

    re.compile(translate_glob(pattern))
