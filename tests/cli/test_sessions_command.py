"""`everturn sessions`: every action on real sessions, and every way to get it wrong."""

import asyncio
import os
import pty
import re
import sys

import msgspec
import pytest
from tests.cli.shells import SHELLS, ask_bash, ask_fish, ask_zsh

from everturn.cli.completion import render_bash, render_fish, render_zsh
from everturn.cli.sessions.delete import parse_age, parse_size
from everturn.cli.sessions.display import render_age, render_size
from everturn.modelserver import call, text
from everturn.sessions.journal import FileJournal
from everturn.sessions.places import find_session_file, session_file

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
FOREIGN = (
    '{"type":"user","uuid":"u","sessionId":"theirs","cwd":"%s","message":{"role":"user","content":"Their words"}}\n'
)
NEWER = '{"type":"session","format":99,"session_id":"future","at":1.0,"folder":"%s","version":"9"}\n'


@pytest.fixture
async def sessions(program):
    """Two of this folder, alpha the older, and one of another program."""
    program.model(call("Glob", {"pattern": "*"}), text("The *answer* is 42."), text("Hello."))
    await program.run("-p", f"What is it? {SECRET}", "--session-id", "alpha-1")
    await program.run("-p", "Mend the parser", "--session-id", "beta-2")
    os.utime(file_of(program, "alpha-1"), (1_000, 1_000))
    return program


def file_of(program, name):
    return find_session_file(program.home, name)


def write_beside(program, name, content):
    path = session_file(program.home, name, program.folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content % program.folder)
    return path


def json_of(done):
    assert (done.code, done.err) == (0, "")
    return msgspec.json.decode(done.out)


async def test_the_list_shows_this_folders_sessions_the_newest_first(sessions):
    done = await sessions.run("sessions")
    head, *rows = done.out.splitlines()
    assert head.split() == ["ID", "AGE", "ROUNDS", "MSGS", "COST", "MODEL", "TITLE"]
    assert [(row.split()[0], row.split("  ")[-1]) for row in rows] == [
        ("beta-2", "Mend the parser"),
        ("alpha-1", "What is it? [key]"),
    ]
    assert rows[1].split()[3:5] == ["2", "4"]
    assert SECRET not in done.out


async def test_the_list_is_there_for_programs_too(sessions):
    beta, alpha = json_of(await sessions.run("sessions", "list", "--json"))
    assert (alpha["id"], alpha["rounds"], alpha["messages"], alpha["title"]) == ("alpha-1", 2, 4, "What is it? [key]")
    assert (alpha["open"], alpha["interrupted"], alpha["foreign"]) == (False, False, False)
    assert alpha["written"] == "1970-01-01T00:16:40Z"
    assert beta["cost_usd"] > 0
    assert (await sessions.run("sessions", "--ids")).out == "beta-2\nalpha-1\n"
    limited = await sessions.run("sessions", "--limit", "1")
    assert "… and 1 more (--limit 0 shows all)" in limited.out


async def test_sessions_of_other_folders_are_shown_when_asked_for(sessions, tmp_path):
    sessions.folder = tmp_path
    here = await sessions.run("sessions")
    assert here.out == f"There is no session of {tmp_path} yet (2 in other folders: everturn sessions --all).\n"
    everywhere = await sessions.run("sessions", "--all")
    assert len(everywhere.out.splitlines()) == 3
    assert "FOLDER" in everywhere.out


async def test_an_empty_home_has_no_sessions_and_gets_no_index(program):
    assert (await program.run("sessions", "--all")).out == "There is no session yet.\n"
    assert not program.home.exists()


async def test_strangers_are_marked_and_left_alone(sessions):
    write_beside(sessions, "theirs", FOREIGN)
    write_beside(sessions, "future", NEWER)
    states = {
        card["id"]: (card["foreign"], card["newer_format"])
        for card in json_of(await sessions.run("sessions", "--json"))
    }
    assert states == {
        "alpha-1": (False, None),
        "beta-2": (False, None),
        "theirs": (True, None),
        "future": (False, 99),
    }
    for name, complaint in (("theirs", "was written by another program"), ("future", "by a later version of Everturn")):
        done = await sessions.run("sessions", "delete", name, "--yes")
        assert (done.code, complaint in done.err) == (2, True)
    assert "it was left untouched" in (await sessions.run("sessions", "show", "future")).err
    assert "it was left untouched" in (await sessions.run("sessions", "rename", "future", "x")).err
    pruned = await sessions.run("sessions", "prune", "--older-than", "0h", "--yes")
    assert "2 sessions" in pruned.out
    assert (await sessions.run("sessions", "--ids")).out.split() == ["future", "theirs"]


async def test_what_was_said_is_found_with_the_words_around_it(sessions):
    done = await sessions.run("sessions", "search", "answer")
    assert re.fullmatch(r"alpha-1  .+  What is it\? \[key\]\n  answer:  The \*answer\* is 42\.\n", done.out)
    [found] = json_of(await sessions.run("sessions", "search", "ghp", "--json"))
    assert (found["id"], found["count"], found["hits"][0]["snippet"]) == ("alpha-1", 1, "What is it? [key]")
    nothing = await sessions.run("sessions", "search", "nowhere to be found")
    assert (nothing.code, "was not found in a session of" in nothing.out) == (1, True)


async def test_a_session_is_shown_with_what_was_said(sessions):
    done = await sessions.run("sessions", "show", "alpha")
    assert done.out.startswith("What is it? [key]\n\nSession   alpha-1\n")
    assert "  > Glob: *\n" in done.out
    assert done.out.endswith("The *answer* is 42.\n")
    assert json_of(await sessions.run("sessions", "show", "beta", "--json"))["short_id"] == "beta-2"


async def test_a_renamed_session_is_found_by_its_title_everywhere(sessions):
    renamed = await sessions.run("sessions", "rename", "alpha", "The", "great  question")
    assert renamed.out == "Session alpha-1 is called 'The great question' now.\n"
    assert (await sessions.run("sessions", "--ids")).out == "beta-2\nalpha-1\n"
    assert "Session alpha-1 cost" in (await sessions.run("cost", "the great question")).out
    gone_on = await sessions.run("-p", "And?", "--resume", "The great question", "--output-format", "json")
    assert gone_on.lines[0]["session_id"] == "alpha-1"
    last = file_of(sessions, "alpha-1").read_bytes()
    assert b'\n{"type":"custom-title","customTitle":"The great question","sessionId":"alpha-1"}\n' in last


async def test_a_tag_is_set_and_taken_away(sessions):
    assert (await sessions.run("sessions", "tag", "beta", "done")).out == "Session beta-2 has the tag 'done' now.\n"
    assert "Mend the parser #done" in (await sessions.run("sessions")).out
    assert (await sessions.run("sessions", "tag", "beta", "--clear")).out == "Session beta-2 has no tag now.\n"
    assert "#done" not in (await sessions.run("sessions")).out


@pytest.mark.parametrize(
    ("format_", "begins"),
    [("markdown", "# What is it? \\[key\\]"), ("html", "<!DOCTYPE html>"), ("json", '{"format":')],
)
async def test_a_session_is_exported_without_keys(sessions, tmp_path, format_, begins):
    done = await sessions.run("sessions", "export", "alpha", "--format", format_)
    assert done.out.startswith(begins)
    assert "42" in done.out
    assert SECRET not in done.out
    assert SECRET in file_of(sessions, "alpha-1").read_text()


async def test_an_ending_that_no_form_has_is_refused_with_those_there_are(sessions, tmp_path):
    target = tmp_path / "talk.pdf"
    done = await sessions.run("sessions", "export", "alpha", "--output", str(target))
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "everturn: .pdf is no ending that a session can be exported to (there are: .md, .markdown, .html, .htm, .json)\n"
    )
    assert not target.exists()
    named = await sessions.run("sessions", "export", "alpha", "--format", "html", "--output", str(target))
    assert (named.code, target.read_text()[:9]) == (0, "<!DOCTYPE")


async def test_an_export_goes_to_a_file_whose_name_says_its_form(sessions, tmp_path):
    target = tmp_path / "out.html"
    done = await sessions.run("sessions", "export", "alpha", "--output", str(target))
    assert (done.code, target.stat().st_mode & 0o777) == (0, 0o600)
    assert target.read_text().startswith("<!DOCTYPE html>")
    again = await sessions.run("sessions", "export", "alpha", "--output", str(target))
    assert (again.code, "--force replaces it" in again.err) == (2, True)
    assert (await sessions.run("sessions", "export", "beta", "--output", str(target), "--force")).code == 0
    assert "Mend the parser" in target.read_text()
    nowhere = await sessions.run("sessions", "export", "beta", "--output", str(tmp_path / "no" / "x.md"))
    assert (nowhere.code, "cannot be written: No such file" in nowhere.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


async def test_a_session_is_deleted_with_all_that_belongs_to_it(sessions):
    path = file_of(sessions, "alpha-1")
    for name in ("blobs/0123", "subagents/agent-1.jsonl"):
        (path.parent / "alpha-1" / name).parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "alpha-1" / name).write_text("x")
    unsure = await sessions.run("sessions", "delete", "alpha-1")
    assert (unsure.code, "add --yes to do it" in unsure.err, path.exists()) == (2, True, True)
    done = await sessions.run("sessions", "delete", "alpha-1", "--yes")
    assert (done.code, done.out.startswith("1 session (")) == (0, True)
    assert [each.name for each in path.parent.iterdir()] == ["beta-2.jsonl"]


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
async def test_on_a_terminal_deleting_asks_first(sessions, typed, code):
    ours, theirs = pty.openpty()
    try:
        os.write(ours, typed)
        async with sessions.started("sessions", "delete", "beta", stdin=theirs) as process:
            out, _ = await process.communicate()
    finally:
        os.close(theirs)
        os.close(ours)
    assert process.returncode == code
    assert b"for good? [y/N] " in out
    assert (file_of(sessions, "beta-2") is None) is (code == 0)


async def test_an_open_session_is_not_removed(sessions):
    path = file_of(sessions, "alpha-1")
    journal = await asyncio.to_thread(FileJournal, path, "alpha-1", must_exist=True)
    try:
        os.utime(path, (1_000, 1_000))
        assert "open" in (await sessions.run("sessions")).out
        done = await sessions.run("sessions", "delete", "alpha-1", "--yes")
        assert (done.code, "is open" in done.err) == (2, True)
        assert (
            await sessions.run("sessions", "prune", "--older-than", "30d", "--yes")
        ).out == "No session needs to go.\n"
    finally:
        journal.close()
    assert path.exists()


async def test_pruning_shows_what_would_go_and_does_it_on_a_word(sessions):
    shown = await sessions.run("sessions", "prune", "--older-than", "30d")
    assert re.search(
        r"alpha-1 .*\n1 session \(.+\) would be removed\. Nothing was removed yet; --yes does it\.\n$", shown.out
    )
    assert (await sessions.run("sessions", "prune", "--older-than", "30d", "--larger-than", "1GB")).out == (
        "No session needs to go.\n"
    )
    planned = json_of(await sessions.run("sessions", "prune", "--keep-total", "0", "--json"))
    assert ([each["id"] for each in planned["sessions"]], planned["removed"]) == (["alpha-1", "beta-2"], False)
    assert (await sessions.run("sessions", "prune", "--older-than", "30d", "--yes")).code == 0
    assert (await sessions.run("sessions", "--ids")).out == "beta-2\n"


async def test_pruning_follows_the_setting_if_nothing_else_is_said(sessions):
    lost = await sessions.run("sessions", "prune")
    assert (lost.code, "set cleanupPeriodDays" in lost.err) == (2, True)
    await sessions.run("config", "set", "cleanupPeriodDays", "90")
    assert "alpha-1" in (await sessions.run("sessions", "prune")).out


async def test_a_ruined_index_is_said_and_a_rebuilt_one_knows_the_same(sessions):
    before = (await sessions.run("sessions", "--json")).out
    (sessions.home / "index.sqlite").write_bytes(b"ruined")
    done = await sessions.run("sessions", "--json")
    assert (done.out, "was built again" in done.err) == (before, True)
    rebuilt = await sessions.run("sessions", "rebuild")
    assert rebuilt.out == "The index was built again from 2 sessions.\n"
    assert (await sessions.run("sessions", "--json")).out == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["lsit"], "unknown command 'sessions lsit'; did you mean 'list'?"),
        (["--al"], "unknown flag '--al'; did you mean '--all'?"),
        (["--limit", "x"], "--limit must be a whole number of at least 0, not 'x'"),
        (["--limit"], "--limit needs a value: --limit N"),
        (["--all=yes"], "--all takes no value"),
        (["list", "word"], "did you mean: everturn sessions search word"),
        (["search"], "everturn sessions search WORDS"),
        (["show"], "everturn sessions show SESSION"),
        (["show", "nobody"], "there is no session nobody"),
        (["rename", "x"], "everturn sessions rename SESSION TITLE"),
        (["tag", "x"], "everturn sessions tag SESSION TAG, or --clear"),
        (
            ["export", "x", "--format", "htm"],
            "--format must be one of markdown, html, json, not 'htm'; did you mean 'html'?",
        ),
        (["delete"], "everturn sessions delete SESSION"),
        (["prune", "x"], "everturn sessions delete x"),
        (["prune", "--older-than", "soon"], "--older-than must be a number of hours, days, weeks or years"),
        (["prune", "--larger-than", "big"], "--larger-than must be a size such as 500MB"),
        (["rebuild", "x"], "sessions rebuild takes no words"),
    ],
)
async def test_what_cannot_be_understood_is_said_in_a_line(program, words, complaint):
    done = await program.run("sessions", *words)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err


async def test_it_has_a_help_of_its_own(program):
    done = await program.run("sessions", "export", "--help")
    assert (done.code, max(map(len, done.out.splitlines())) <= 120) == (0, True)
    assert "everturn sessions export SESSION [--format FORMAT]" in done.out


def test_ages_and_sizes_are_read_and_written():
    assert (parse_age("x", "36h"), parse_age("x", "1.5 d"), parse_age("x", "2W")) == (129_600, 129_600, 1_209_600)
    assert (parse_size("x", "1.5GB"), parse_size("x", "2MiB"), parse_size("x", "10")) == (1_500_000_000, 2 << 20, 10)
    ages = [render_age(age) for age in (-5, 59, 61, 7_300, 86_400 * 3, 86_400 * 90, 86_400 * 800)]
    assert ages == ["0 s", "59 s", "1 min", "2 h", "3 d", "3 mo", "2 y"]
    assert [render_size(size) for size in (12, 1_500, 2_500_000_000)] == ["12 B", "1.5 KB", "2.5 GB"]


@pytest.mark.parametrize("shell", SHELLS)
async def test_shells_complete_sessions_where_one_is_wanted(sessions, tmp_path, monkeypatch, shell):
    starter = tmp_path / "bin" / "everturn"
    starter.parent.mkdir()
    exports = "".join(f"export {name}='{value}'\n" for name, value in sessions.env.items() if name != "PATH")
    starter.write_text(f"#!/bin/sh\n{exports}cd '{sessions.folder}' && exec '{sys.executable}' -m everturn \"$@\"\n")
    starter.chmod(0o755)
    monkeypatch.setenv("PATH", f"{starter.parent}:{os.environ['PATH']}")
    script = tmp_path / f"everturn.{shell}"
    script.write_text({"bash": render_bash, "zsh": render_zsh, "fish": render_fish}[shell]())
    for words in (("-p", "--resume", "al"), ("cost", "al"), ("sessions", "show", "al")):
        match shell:
            case "bash":
                offered = await asyncio.to_thread(ask_bash, script, *words)
            case "zsh":
                offered, _ = await asyncio.to_thread(ask_zsh, script, *words)
            case _:
                offered = await asyncio.to_thread(ask_fish, script, *words)
        assert offered == ["alpha-1"]
