"""Settings files that change while we run."""

import os
import time

import msgspec
import pytest
from tests.pace import slowness

from everturn.core.errors import OptionError
from everturn.permissions.rules.written import find_missing, join_rules
from everturn.ports.policy import Ruling
from everturn.ports.rules import Permissions, WrittenRule
from everturn.settings.trust import TrustState
from everturn.settings.watch import SettingsWatch


@pytest.fixture
def watch(ground):
    def begin() -> SettingsWatch:
        return SettingsWatch(ground.grounds, {}, trust=TrustState(), now=ground.merge(trust=TrustState()))

    return begin


def texts(permissions: Permissions | None) -> list[str] | None:
    return None if permissions is None else [rule.text for rule in permissions.rules]


def test_what_is_written_is_seen_from_then_on(ground, watch):
    ground.write("user", {"permissions": {"deny": ["A"]}})
    live = watch()
    assert live.changed() is None
    ground.write("user", {"permissions": {"deny": ["A", "B"], "additionalDirectories": ["/x"]}})
    changed = live.changed()
    assert texts(changed) == ["A", "B"]
    assert changed.paths == ("/x",)
    assert live.changed() is None


def test_a_file_that_comes_or_goes_is_a_change(ground, watch):
    live = watch()
    path = ground.write("foreign local", {"permissions": {"ask": ["A"]}})
    assert texts(live.changed()) == ["A"]
    more = ground.managed / "managed-settings.d"
    more.mkdir()
    (more / "a.json").write_text('{"permissions": {"deny": ["B"]}}')
    assert texts(live.changed()) == ["A", "B"]
    path.unlink()
    assert texts(live.changed()) == ["B"]
    (more / "a.json").write_text('{"permissions": {"deny": ["B", "C"]}}')
    assert texts(live.changed()) == ["B", "C"]


def test_a_file_that_became_malformed_is_told_once_and_the_others_are_still_read(ground, watch):
    ground.write("user", {"permissions": {"deny": ["A"]}})
    live = watch()
    path = ground.write("user", '{"permissions": {"deny": []')
    ground.write("local", {"permissions": {"deny": ["C"]}})
    changed = live.changed()
    assert texts(changed) == ["C"]
    assert changed.partial
    assert [notice.startswith("settings changed and cannot be used") for notice in changed.notices] == [True]
    assert f"{path}:1" in changed.notices[0]
    assert live.changed() is None
    ground.write("user", {"permissions": {"deny": ["B"]}})
    changed = live.changed()
    assert (texts(changed), changed.partial) == (["B", "C"], False)


def test_an_untrusted_folder_gains_nothing_by_writing_later(ground, watch):
    live = watch()
    ground.write("foreign project", {"permissions": {"allow": ["Bash(*)"], "deny": ["Read"]}})
    changed = live.changed()
    assert texts(changed) == ["Read"]
    assert "permissions.allow" in changed.notices[0]


def test_what_a_person_had_written_down_is_not_told_to_them_again(ground, watch):
    live = watch()
    path = ground.write("local", {"permissions": {"allow": ["Bash(make)"]}})
    live.note_written(str(path), path.read_bytes())
    assert live.changed().notices == ()
    ground.write("local", {"permissions": {"allow": ["Bash(make)"]}, "model": "opus"})
    assert len(live.changed().notices) == 1


def test_what_somebody_else_wrote_in_the_same_moment_is_told(ground, watch):
    live = watch()
    path = ground.write("local", {"permissions": {"allow": ["Bash(make)"]}})
    live.note_written(str(path), path.read_bytes())
    ground.write("local", {"permissions": {"allow": ["Bash(make)", "Bash"]}})
    assert "permissions.allow" in live.changed().notices[0]


def test_managed_settings_that_we_could_write_ourselves_are_not_taken_for_an_administrators(ground, watch):
    live = watch()
    ground.write("managed", {"permissions": {"allow": ["Bash"]}})
    assert not live.changed().managed_by_others


def test_managed_settings_are_the_administrators_where_we_are_not_root(ground):
    grounds = msgspec.structs.replace(ground.grounds, managed=("/etc/everturn",))
    live = SettingsWatch(grounds, {}, trust=TrustState(), now=ground.merge())
    ground.write("user", {})
    assert live.changed().managed_by_others == (os.geteuid() != 0)


def test_a_look_costs_next_to_nothing(ground, watch):
    ground.write("user", {"permissions": {"deny": ["A"]}})
    live = watch()
    best = min(timed(live) for _ in range(50)) / slowness()
    assert best < 200e-6, f"{best * 1e6:.0f} µs"


def timed(live: SettingsWatch) -> float:
    start = time.process_time()
    for _ in range(10):
        live.changed()
    return (time.process_time() - start) / 10


def rule(text: str, ruling: Ruling) -> WrittenRule:
    return WrittenRule(text=text, ruling=ruling, source="user", folder="/", origin="settings.json:3")


def test_a_broken_allow_is_passed_over_and_a_broken_deny_or_ask_stops_the_start():
    rules, warnings = join_rules([rule("Bash(ls", Ruling.ALLOW), rule("Read", Ruling.ALLOW)])
    assert [one.text for one in rules] == ["Read"]
    (warning,) = warnings
    assert warning.startswith("settings.json:3: a rule of permissions.allow cannot work and is passed over: Bash(ls ")
    for ruling in (Ruling.DENY, Ruling.ASK):
        with pytest.raises(OptionError, match=rf"^settings.json:3: permissions.{ruling} holds a rule that cannot work"):
            join_rules([rule("Bash(ls", ruling)])


def test_a_working_folder_that_is_not_there_is_told(tmp_path):
    (tmp_path / "there").mkdir()
    folders = [str(tmp_path / "there"), str(tmp_path / "missing")]
    assert find_missing(folders) == [f"{tmp_path}/missing is to be a working folder, too, and is not there"]


def test_a_deny_that_another_tools_rules_cover_is_taken_as_what_was_meant():
    rules, warnings = join_rules([rule("Write(x)", Ruling.DENY)])
    assert [one.text for one in rules] == ["Edit(x)"]
    assert warnings == ("settings.json:3: permissions.deny: Write(x) is taken as Edit(x)",)


def test_a_file_is_looked_at_by_name_so_that_a_replaced_one_is_seen(ground, watch):
    path = ground.write("user", {"permissions": {"deny": ["A"]}})
    live = watch()
    status = path.stat()
    other = path.with_suffix(".new")
    other.write_text(path.read_text().replace("A", "B"))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)
    assert texts(live.changed()) == ["B"]


def test_a_file_that_is_written_in_place_with_its_old_size_and_time_is_seen(ground, watch):
    path = ground.write("user", {"permissions": {"deny": ["A"]}})
    live = watch()
    status = path.stat()
    before = status.st_ctime_ns
    while path.stat().st_ctime_ns == before:
        # The clock of the file system ticks in milliseconds.
        path.write_text(path.read_text().replace("A", "B"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert texts(live.changed()) == ["B"]


def test_a_file_given_by_name_is_watched_too(ground, tmp_path):
    path = tmp_path / "given.json"
    path.write_text('{"permissions": {"deny": ["A"]}}')
    now = ground.merge(given=str(path))
    live = SettingsWatch(ground.grounds, {}, str(path), trust=TrustState(), now=now)
    assert live.changed() is None
    path.write_text('{"permissions": {"deny": ["A", "B"]}}')
    assert texts(live.changed()) == ["A", "B"]
