"""The names behind an `@`: listed beside everything else, bounded, and never anything that a terminal would obey."""

from threading import Event

import pytest
from tests.frontends.terminal.stage import Stage

from everturn.frontends.terminal import files
from everturn.frontends.terminal.files import FileIndex


class Lister:
    """Lists what it is told to, when it is let."""

    def __init__(self, *paths):
        self.paths = list(paths)
        self.may_go_on = Event()
        self.may_go_on.set()
        self.calls = 0

    def __call__(self, is_over):
        self.calls += 1
        assert self.may_go_on.wait(60)
        self.saw_end = is_over()
        yield from self.paths


def listed(lister):
    ended = Event()
    index = FileIndex(lister, on_ready=ended.set)
    index.refresh()
    assert ended.wait(60)
    return index


def paths_of(index, typed=""):
    return [found.text for found in index.find(typed, 100)]


def test_what_lies_near_the_top_comes_first():
    index = listed(Lister("src/b.py", "z.md", "src/deep/a.py", "a.md"))

    assert paths_of(index) == ["z.md", "a.md", "src/b.py", "src/deep/a.py"]
    assert paths_of(index, "b") == ["src/b.py"]
    assert index.is_ready
    assert index.is_complete
    assert index.problem == ""


def test_before_the_first_listing_has_ended_there_is_nothing_and_nobody_waits():
    lister = Lister("a")
    lister.may_go_on.clear()
    index = FileIndex(lister)
    index.refresh()
    index.refresh()

    assert paths_of(index) == []
    assert not index.is_ready
    lister.may_go_on.set()


def test_while_a_listing_runs_the_names_of_the_last_one_are_there_and_no_second_one_begins():
    lister, ended = Lister("old"), Event()
    index = FileIndex(lister, on_ready=ended.set)
    index.refresh()
    assert ended.wait(60)
    ended.clear()
    lister.may_go_on.clear()
    lister.paths = ["new"]

    index.refresh()
    index.refresh()
    assert paths_of(index) == ["old"]
    lister.may_go_on.set()
    assert ended.wait(60)

    assert paths_of(index) == ["new"]
    assert lister.calls == 2


def test_a_listing_that_fails_keeps_the_names_and_says_why():
    def fail(is_over):
        raise PermissionError(13, "Permission denied")

    index = listed(fail)

    assert paths_of(index) == []
    assert index.problem == "[Errno 13] Permission denied"
    assert index.is_ready


@pytest.mark.parametrize(
    "name", ["a\x1b[2Jb", "a\nb", "a\tb", "a\rb", "a\u202eb", "a\u200bb", "a\x9bb", "caf\udce9", "a\x07"], ids=repr
)
def test_a_name_that_a_terminal_would_obey_or_not_show_is_left_out(name):
    index = listed(Lister("good.py", name, f"src/{name}"))

    assert paths_of(index) == ["good.py"]
    assert index.is_ready


def test_letters_of_all_kinds_stay():
    names = ["naïve.md", "עברית.txt", "漢字 one.py", "😀.png"]

    assert sorted(paths_of(listed(Lister(*names)))) == sorted(names)


def test_more_files_than_the_bound_are_cut_and_that_is_told():
    def endless(is_over):
        number = 0
        while True:
            number += 1
            yield f"{number}.txt"

    index = listed(endless)

    assert len(index) == files.MAX_FILES
    assert not index.is_complete


def test_once_closed_nothing_is_listed_any_more():
    lister = Lister("a")
    index = FileIndex(lister)
    index.close()
    index.refresh()

    assert lister.calls == 0


async def test_the_menu_comes_with_the_names_although_no_further_key_is_pressed():
    async with Stage(files={"src/parser.py": "", "src/printer.py": ""}) as stage:
        await stage.ready()
        await stage.type("see @pars")
        await stage.see("▸ src/parser.py")
