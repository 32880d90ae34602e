"""Where a rule allows a part of a line, the line is not held: what stands beside that part must be harmless by itself."""

import os
import subprocess

import pytest

from everturn.modelserver import call, text

pytestmark = pytest.mark.needs("Landlock")
SECRET = "the treasure is below the oak"
RULE = "Bash(touch made)"


def bash(command, **fields):
    return call("Bash", {"command": command, **fields})


def answers(bench, place=-1):
    return str([block["content"] for block in bench.sent[place][-1]["content"] if block["type"] == "tool_result"])


@pytest.fixture
def outside(bench, monkeypatch):
    folder = bench.home.parent / "outside"
    folder.mkdir(parents=True)
    (folder / SECRET).write_text(SECRET)
    monkeypatch.setenv("SECRETVAR", SECRET)
    return folder


@pytest.fixture
def repository(bench):
    subprocess.run(["git", "init", "-q", str(bench.folder)], check=True)
    return bench.folder / ".git"


@pytest.mark.parametrize("mode", ["default", "dontAsk", "acceptEdits"])
@pytest.mark.parametrize(
    "line",
    [
        "for v in $SECRETVAR; do echo $v; done",
        "(for v in $SECRETVAR; do echo $v; done) | cat",
        "echo $SECRETVAR",
        "cat <<EOF\n$SECRETVAR\nEOF",
        "cat <<< $SECRETVAR",
        "case $SECRETVAR in *oak*) echo the treasure is below the oak;; esac",
        "for f in {outside}/*; do echo $f; done",
        "echo {outside}/*",
        "x=$SECRETVAR; echo $x",
        "read x <<< $SECRETVAR; echo $x",
        'echo $(printf %s "{outside}/*")',
        "cat {outside}/*",
    ],
)
async def test_it_tells_neither_the_environment_nor_names_of_other_folders(bench, outside, line, mode):
    bench.model(bash(f"touch made; {line.replace('{outside}', str(outside))}"), text("Done."))

    await bench.run(allowed_tools=[RULE], permission_mode=mode)

    assert SECRET not in answers(bench).replace(line, "")


@pytest.mark.parametrize("without", ["", "off"])
@pytest.mark.parametrize(
    "line", ["touch made; cd d; cat f", "cd d; cat f", "cd d && echo *", "export CDPATH={outside}"]
)
async def test_a_folder_that_the_environment_names_is_not_gone_to(bench, outside, monkeypatch, line, without):
    for place in (outside / "d", bench.folder / "d"):
        place.mkdir(parents=True)
        (place / "f").write_text("plain\n")
    (outside / "d" / "f").write_text(SECRET)
    (outside / "d" / SECRET).touch()
    monkeypatch.setenv("CDPATH", str(outside))
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    bench.model(bash(line.replace("{outside}", str(outside))), bash("touch made; cd d; cat f"), text("Done."))

    await bench.run(allowed_tools=[RULE, "Bash(export *)"])

    assert SECRET not in answers(bench)


@pytest.mark.parametrize("without", ["", "off"])
@pytest.mark.parametrize(
    "link", ["rebase-merge/head-name", "rebase-merge/onto", "rebase-merge/done", "rebase-merge/git-rebase-todo"]
)
async def test_git_is_held_or_asked_about_in_a_folder_that_nobody_trusts(bench, outside, repository, link, without):
    place = repository / link
    place.parent.mkdir()
    place.symlink_to(outside / SECRET)
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    bench.model(bash("touch made; git status"), bash("git status"), text("Done."))

    await bench.run(allowed_tools=[RULE], trusted=False)

    assert SECRET not in answers(bench)


@pytest.mark.parametrize(
    "line",
    [
        'touch made; echo "exit: $?"',
        "touch made && echo done $HOME",
        "touch made | tail -n 20",
        "touch made 2>&1 | grep -A 5 FAIL",
        "touch made | cut -d, -f1 | tr a-z A-Z | sort -u | head -3",
        "touch made; cat a.txt; ls",
        "cd sub && touch made",
    ],
)
async def test_everyday_lines_beside_a_rule_are_not_asked_about(bench, line):
    (bench.folder / "sub").mkdir()
    (bench.folder / "a.txt").write_text("inside\n")
    bench.model(bash(line), text("Done."))

    run = await bench.run(allowed_tools=[RULE])

    assert run.result.denials == ()


@pytest.fixture
def relinked(bench, outside):
    """A folder in which names may become links that lead outside: one is there, one is on a branch."""
    (outside / "deep").mkdir()
    (outside / "deep" / "secret").write_text(SECRET)
    for name in ("a.txt", "d/a.txt"):
        (bench.folder / name).parent.mkdir(exist_ok=True)
        (bench.folder / name).write_text("inside\n")
    (bench.folder / "link").symlink_to(outside / "deep" / "secret")
    (bench.folder / "folder").symlink_to(outside / "deep")
    script = (
        "git init -q . && git add a.txt && git commit -qm one && git checkout -qb other && ln -sf ../outside/deep/secret a.txt "
        "&& git commit -qam two && git checkout -q - && tar cf t.tar link"
    )
    person = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    subprocess.run(
        ["bash", "-c", script], cwd=bench.folder, check=True, env={"PATH": os.defpath, **dict.fromkeys(person, "x@y")}
    )


RELINKING = [
    ("Bash(ln *)", "ln -s ../outside/deep/secret k; cat k"),
    ("Bash(ln *)", "ln -s ../outside/deep k && head -3 k/secret"),
    ("Bash(ln *)", "ln -sf ../outside/deep/secret a.txt; tr a-z A-Z < a.txt"),
    ("Bash(ln *)", "ln -s ../outside/deep k; cd k; ls"),
    ("Bash(ln *)", "(sleep 0.2; cat a.txt) | ln -sf ../outside/deep/secret a.txt"),
    ("Bash(ln *)", "ln -sf ../outside/deep/secret $PWD/a.txt; cat a.txt"),
    ("Bash(bash *)", "bash -c 'ln -sf ../outside/deep/secret a.txt'; cat a.txt"),
    ("Bash(mv *)", "mv link a.txt; cat a.txt"),
    ("Bash(mv *)", "mv folder d/k; tail -1 d/k/secret"),
    ("Bash(cp *)", "cp -P link a.txt; sort a.txt"),
    ("Bash(cp *)", "cp -a folder k; cat k/secret"),
    ("Bash(git checkout *)", "git checkout -q other; cat a.txt"),
    ("Bash(git checkout *)", "git checkout -q other -- a.txt && grep -n oak a.txt"),
    ("Bash(tar *)", "tar xf t.tar; cat link"),
    ("Bash(gh pr *)", "gh pr checkout 5; cat a.txt"),
    ("Bash(hg *)", "hg up other && tail a.txt"),
]


@pytest.mark.parametrize(("rule", "line"), RELINKING)
async def test_it_opens_nothing_that_another_part_may_have_made_a_link(bench, relinked, rule, line):
    if line.startswith("tar"):
        (bench.folder / "link").unlink()
        (bench.folder / "link").write_text("inside\n")
    bench.model(bash(line), text("Done."))

    run = await bench.run(allowed_tools=[rule], trusted=True)

    assert SECRET.casefold() not in answers(bench).casefold()
    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]


EDIT_RULES = ["Edit(d/**)", "Edit(k/**)", "Edit(k)", "Edit(a.txt)"]


@pytest.mark.usefixtures("relinked")
@pytest.mark.parametrize(
    "options", [{"permission_mode": "acceptEdits"}, {"allowed_tools": EDIT_RULES}], ids=["the mode", "a rule"]
)
@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("Bash(git checkout *)", "git checkout -q other; echo evil > a.txt"),
        ("Bash(git checkout *)", "git checkout -q other && echo evil | tee -a a.txt"),
        ("Bash(cp *)", "cp -P link a.txt; echo evil >> a.txt"),
        ("Bash(cp *)", "cp -P folder k; echo evil > k/secret"),
        ("Bash(mv *)", "mv folder k; echo evil > k/secret"),
        ("Bash(mv *)", "(sleep 0.2; echo evil > a.txt) | mv link a.txt"),
        ("Bash(cp *)", "cp -P link a.txt; cp -v d/a.txt k > a.txt"),
    ],
)
async def test_it_writes_nothing_that_another_part_may_have_made_a_link(bench, outside, options, rule, line):
    bench.model(bash(line), text("Done."))

    run = await bench.run(**{**options, "allowed_tools": [rule, *options.get("allowed_tools", ())]}, trusted=True)

    assert (outside / "deep" / "secret").read_text() == SECRET
    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]


async def test_it_writes_the_scratch_folder_only_where_no_other_part_may_have_made_a_link(bench, relinked, outside):
    (bench.folder / "far").symlink_to(outside / "deep")
    lines = ["cp -P far $TMPDIR/k; echo evil > $TMPDIR/k/secret", "git checkout -q other; echo fine > $TMPDIR/log"]
    bench.model(*map(bash, lines), text("Done."))

    run = await bench.run(allowed_tools=["Bash(cp *)", "Bash(git checkout *)"], trusted=True)

    assert (outside / "deep" / "secret").read_text() == SECRET
    assert [denial.tool_input["command"] for denial in run.result.denials] == lines[:1]


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        (["Bash(ln *)"], "ln -s a.txt k; cat d/a.txt"),
        (["Bash(ln *)", "Bash(cat *)"], "ln -s a.txt k; cat k"),
        (["Bash(ln *)"], "cat a.txt; ln -sf d a.txt"),
        (["Bash(cp *)"], "cp a.txt k; cat k"),
        (["Bash(mv *)"], "mv a.txt k && cat k"),
        (["Bash(git checkout *)"], "git checkout -q other && ls"),
        (["Bash(git checkout *)"], "git checkout -q other 2>&1 | tail -3; echo done"),
        (["Bash"], "git checkout -q other; git checkout -q -; cat a.txt"),
        (["Bash(git checkout *)", "Edit(log)"], "git checkout -q other > log 2>&1"),
        (["Bash(cp *)", "Edit(log)"], "cp -P link k; echo done > log"),
    ],
)
async def test_what_no_part_can_lead_elsewhere_is_not_asked_about(bench, relinked, rules, line):
    bench.model(bash(line), text("Done."))

    run = await bench.run(allowed_tools=rules, trusted=True)

    assert run.result.denials == ()


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    "line", ["mv cur old && mv evil cur", "cp -r evil new", "mv evil/deep new", "cp -a evil/. cur"]
)
async def test_a_folder_with_a_link_that_leads_out_of_it_is_not_moved_unasked(bench, outside, line):
    for name in ("cur", "evil/deep"):
        (bench.folder / name).mkdir(parents=True)
    (bench.folder / "cur" / "a").write_text("inside\n")
    (bench.folder / "evil" / "deep" / "a").symlink_to(outside / SECRET)
    bench.model(bash(line), text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]


@pytest.mark.needs("bubblewrap")
async def test_a_folder_whose_links_stay_inside_is_moved_unasked(bench):
    (bench.folder / "pkg" / "bin").mkdir(parents=True)
    (bench.folder / "pkg" / "tool").write_text("x")
    (bench.folder / "pkg" / "bin" / "tool").symlink_to("../tool")
    bench.model(bash("mv pkg moved"), text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    assert run.result.denials == ()
    assert (bench.folder / "moved" / "bin" / "tool").read_text() == "x"


@pytest.mark.parametrize("without", ["bubblewrap", "off"])
@pytest.mark.parametrize("line", ["echo hi > b", "cat a > b"])
async def test_a_file_that_only_the_mode_lets_be_written_is_asked_about_where_nothing_holds_the_line(
    bench, line, without
):
    (bench.folder / "a").write_text("inside\n")
    bench.env["EVERTURN_HOLD_WITHOUT"] = without
    bench.model(bash(line), text("Done."))

    run = await bench.run(permission_mode="acceptEdits")

    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]
    assert not (bench.folder / "b").exists()
