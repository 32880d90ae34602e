"""Text of models, files and commands that would do something to the terminal if it were let."""

import pytest
from tests.frontends.terminal.stage import Stage
from tests.frontends.test_hygiene import ATTACKS

from everturn.modelserver import calls, hold

ALLOWED = {"permissions": {"allow": ["Bash(*)"]}}
ALL = "".join(f"[{name}: {attack}]" for name, attack in ATTACKS.items())


def assert_harmless(stage):
    assert stage.unknown == []
    assert stage.clears == []
    assert not any("owned" in title for title in (*stage.told("0"), *stage.told("2")))
    assert stage.told("52") == []
    assert not any("evil" in link for link in stage.told("8"))
    assert b"\x1b[?1049h" not in stage.raw
    assert b"\x1b[8m" not in stage.raw
    assert "\u202e" not in stage.raw.decode()


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_the_models_words_control_nothing(attack):
    async with Stage(script=[f"before {attack} after\n\nThe end."]) as stage:
        await stage.type("go\n")
        await stage.see("The end.")
        assert_harmless(stage)


async def test_commands_and_their_output_control_nothing():
    run = ("Bash", {"command": f"cat made.txt # {ALL}", "description": ALL})
    unasked = ("--permission-mode", "bypassPermissions")
    async with Stage(*unasked, script=[calls(run), "The end."], files={"made.txt": ALL}) as stage:
        await stage.type("go\n")
        await stage.see("The end.")
        assert_harmless(stage)


async def test_file_names_control_nothing():
    name = "a\x1b]0;owned\x07\x1b[2Jb\u202ec.txt"
    script = [calls(("Glob", {"pattern": "*"}), ("Read", {"file_path": name})), "The end."]
    async with Stage(script=script, files={name: "text"}) as stage:
        await stage.type("go\n")
        await stage.see("The end.")
        await stage.type("@a")
        await stage.see("@a")
        assert_harmless(stage)


async def test_a_question_shows_what_would_otherwise_be_hidden():
    run = ("Bash", {"command": "echo safe\rrm -rf made\x08\x08 \u202egnp"})
    async with Stage(script=[calls(run), "The end."]) as stage:
        await stage.type("go\n")
        await stage.see("rm -rf made", "\\u202e", "[y] yes")
        await stage.press("n")
        await stage.see("The end.")
        assert_harmless(stage)


async def test_pasted_escapes_control_nothing():
    async with Stage(script=[hold("One.", after=2), "Two.", "Three."]) as stage:
        await stage.ready()
        await stage.feed(b"\x1b[200~a\x1b[2Jb\x1b]0;owned\x07c\td\x1b[201~")
        await stage.see("> a\u241b[2Jb\u241b]0;owned\u2407c d")
        await stage.press("enter")
        await stage.server.wait_for(1)
        await stage.feed(b"\x1b[200~queued\x1b[2J\x1b]0;owned\x07\x1b[201~\r")
        await stage.see("queued")
        await stage.press("up")
        await stage.see("> queued\u241b[2J")
        await stage.press("enter")
        stage.release()
        await stage.see("One.", "Two.")
        await stage.press("ctrl-r")
        await stage.type("queued")
        await stage.see("earlier prompts")
        await stage.press("enter", "enter")
        await stage.see("Three.")
        assert_harmless(stage)


async def test_a_line_of_a_megabyte_is_folded():
    run = ("Bash", {"command": "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last"})
    async with Stage(script=[calls(run), "The end."], settings=ALLOWED) as stage:
        await stage.type("go\n")
        await stage.see("The end.")
        assert stage.everything.count("x") < 20_000
        assert len(stage.raw) < 400_000


async def test_a_diff_of_ten_thousand_lines_is_folded():
    content = "".join(f"line {number}\n" for number in range(10_000))
    write = ("Write", {"file_path": "made.txt", "content": content})
    async with Stage(
        script=[calls(write), "The end."], settings={"permissions": {"allow": ["Edit(*)", "Write(*)"]}}
    ) as stage:
        await stage.type("go\n")
        await stage.see("The end.")
        assert len(stage.scrollback) < 300
        assert (stage.folder / "made.txt").read_text() == content


async def test_bytes_that_are_no_text_are_shown_as_such():
    run = ("Bash", {"command": "printf 'a\\377\\376b\\303'; echo end"})
    async with Stage(script=[calls(run), "The end."], settings=ALLOWED) as stage:
        await stage.type("go\n")
        await stage.see("The end.")


async def test_bytes_that_are_no_text_are_no_keys():
    async with Stage(script=["The end."]) as stage:
        await stage.ready()
        await stage.feed(b"a\xff\xfeb\xc3")
        await stage.type("c\n")
        await stage.see("The end.")
        assert stage.said().startswith("a")
        assert stage.said().endswith("c")


WIDE = "漢字かな 한글 🙂👍🏽 👩‍👩‍👧 é é 🇩🇪 ﷽ 全角"


@pytest.mark.parametrize("columns", [100, 41, 40, 23])
async def test_wide_characters_are_neither_cut_nor_doubled(columns):
    answer = f"{'漢字' * 40}\n\n| {WIDE} | b |\n|---|---|\n| 漢 | 🙂 |\n\nThe end."
    async with Stage(script=[answer], columns=columns, rows=40) as stage:
        await stage.type(WIDE)
        await stage.see(WIDE[:2])
        await stage.press("backspace", "backspace", "backspace")
        await stage.type("!\n")
        await stage.see("The end.")
        assert "漢字" * 40 in stage.everything.replace("\n", "")
        assert stage.said().startswith(WIDE[:8])
