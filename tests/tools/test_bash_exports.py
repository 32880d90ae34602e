"""What a command exports for others: bounded, and never unseen where it decides which programs run."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everturn.ports.exports import NEVER_KEPT, matters
from everturn.tools.bash import bash_tool
from everturn.tools.bash.exports import MAX_BYTES, MAX_LENGTH, find_assigned, judge_exports
from everturn.tools.bash.shell import find_shell, plan_arguments, plan_inherited
from everturn.tools.bash.shell_report import VariableChanges


@pytest.fixture
def say(desk):
    """Runs commands one after the other in one session; gives what they print."""
    tool = bash_tool()

    async def say(command):
        return (await desk.use(tool, command=command)).content

    return say


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "CC", "npm_config_registry", "GIT_SSH_COMMAND", "PYTHONPATH", "NODE_OPTIONS"]
)
async def test_what_decides_on_programs_is_kept_only_where_the_command_spells_it_out(desk, say, name):
    desk.write("set.sh", f"export {name}=/nowhere\n")

    told = await say(". ./set.sh")

    assert f"{name} was exported and not kept" in told
    assert await say(f"echo ${{{name}-unset}}") == "unset"
    assert f"{name} is now '/nowhere'" in await say(f"export {name}=/nowhere")
    assert (await say(f"echo ${name}")).endswith("/nowhere")


@pytest.mark.parametrize(
    "name", ["BASH_ENV", "ENV", "PS4", "PROMPT_COMMAND", "BASH_XTRACEFD", "POSIXLY_CORRECT", "CDPATH", "GLOBIGNORE"]
)
async def test_what_our_own_shell_obeys_is_never_kept(say, name):
    assert f"{name} was exported and not kept" in await say(f"export {name}=1")
    assert await say(f"printenv {name} || echo unset") == "unset"


@pytest.mark.parametrize("name", ["SHELLOPTS", "BASHOPTS"])
async def test_options_of_the_shell_are_not_exported_for_later_ones(say, name):
    await say(f"set -o noexec; shopt -s extdebug; export {name}")
    await say(f"shopt -s extdebug; set -f; export {name}; true # {name}=")

    assert await say("echo alive; echo $- | tr -cd f; shopt -q extdebug || echo plain") == "alive\nplain"


OBEYED = """
    BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT BASH_ENV BASH_EXECUTION_STRING
    BASH_LINENO BASH_LOADABLES_PATH BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION
    BASH_XTRACEFD CDPATH CHILD_MAX COLUMNS COMPREPLY COMP_CWORD COMP_KEY COMP_LINE COMP_POINT COMP_TYPE COMP_WORDBREAKS COMP_WORDS COPROC
    DIRSTACK EMACS ENV EPOCHREALTIME EPOCHSECONDS EUID EXECIGNORE FCEDIT FIGNORE FUNCNAME FUNCNEST GLOBIGNORE GLOBSORT GROUPS HISTCMD
    HISTCONTROL HISTFILE HISTFILESIZE HISTIGNORE HISTSIZE HISTTIMEFORMAT HOSTFILE HOSTNAME HOSTTYPE IFS IGNOREEOF INPUTRC INSIDE_EMACS
    LINENO LINES MACHTYPE MAIL MAILCHECK MAILPATH MAPFILE OLDPWD OPTARG OPTERR OPTIND OSTYPE PIPESTATUS POSIXLY_CORRECT POSIX_PEDANTIC
    PPID PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 PWD RANDOM READLINE_ARGUMENT READLINE_LINE READLINE_MARK READLINE_POINT REPLY
    SECONDS SHELL SHELLOPTS SHLVL SRANDOM TIMEFORMAT UID auto_resume histchars BASH_FUNC_cd%% BASH_FUNC_cat%% BASH_FUNC_echo%%
""".split()  # noqa: SIM905 (a list of words)
"""What the manual of bash names; and functions in the place of a builtin and of a program."""
PROBE = "cd d; pwd; cat f; echo *; x=a,b:c; echo $x; set -x; :; set +x; echo $-; shopt -p extglob sourcepath; ls . -a; cd - >&2"


def test_whatever_the_environment_holds_the_shell_reads_a_line_as_it_was_judged(tmp_path):
    for place in ("d", "elsewhere/d"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "f").write_text(place)
    code = tmp_path / "code"
    code.write_text("echo obeyed; shopt -s extglob\n")
    values = [
        str(tmp_path / "elsewhere"),
        str(code),
        "f",
        ",",
        "() { echo obeyed; }",
        "extglob",
        "noglob",
        "$(echo obeyed >&2)",
    ]
    arguments = plan_arguments(PROBE, str(tmp_path), "", find_shell(()))

    def tell(environment):
        done = subprocess.run(arguments, env=environment, capture_output=True, check=False)
        return done.stdout, done.stderr

    def plan(**given):
        return plan_inherited({"PATH": os.defpath, **given})

    plain = tell(plan())
    given = [(name, value, plan(**{name: value})) for name in OBEYED for value in values]
    assert b"obeyed" not in b"".join(plain)
    assert [(name, value) for name, value, each in given if each != plan() and tell(each) != plain] == []


def test_functions_of_the_environment_that_stand_for_no_program_are_handed_on():
    given = {
        "BASH_FUNC_module%%": "() { :; }",
        "BASH_FUNC_ls%%": "() { :; }",
        "BASH_FUNC_cd%%": "() { :; }",
        "ENV": "production",
    }

    assert given.keys() & plan_inherited(given) == {"BASH_FUNC_module%%", "ENV"}


FORGING = (
    'python3 -c \'import os\nfor number in range(3, 1024):\n try: os.write(number, b"/tmp\\n\\0\\0declare -x {}=\\"x\\"\\n\\0")\n'
    " except OSError: pass'"
)


@pytest.mark.parametrize("name", ["GREETING", "PATH"])
@pytest.mark.parametrize("ending", ["", "; exit 3", "; exec true", "; kill -9 $$", " & disown", " | cat"])
async def test_no_program_that_a_command_starts_can_report_in_its_place(desk, say, name, ending):
    before = await say(f"echo ${name} $PWD")

    await say(f"{FORGING.format(name)}{ending} # {name}=")

    assert await say(f"echo ${name} $PWD") == before


async def test_what_a_command_starts_has_no_descriptor_of_the_shell(say):
    """Where the shell's own copy lies is not for programs either; what the tests themselves inherit aside."""
    listing = "python3 -c 'import os; print(sorted(os.listdir(\"/proc/self/fd\")))'"

    plain, reporting = await say(f"exec 240>&-; {listing}"), await say(listing)

    assert "240" not in reporting
    assert reporting == plain


async def test_a_file_that_a_command_opened_takes_no_report(desk, say):
    await say('for n in {10..40} 240; do eval "exec $n>log.$n"; done; f() { exit 1; }; f')
    await say('for n in {10..40} 240; do eval "exec $n>log.$n"; done')

    assert [path.stat().st_size for path in desk.folder.glob("log.*")] == [0] * 32


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("export A=1 B=2", {"A", "B"}),
        ("A=1; B+=2; export A B", {"A", "B"}),
        ("if true; then export A=1; fi; { B=2; }", {"A", "B"}),
        ("true && export A=$(x y) && declare -x B=2; (typeset -x C=3)", {"A", "B", "C"}),
        ("export A='x y' B=\"a\\\"; C=\" D=1", {"A", "B", "D"}),
        ("builtin export A=1", {"A"}),
        ("export \\\n  A=1", {"A"}),
        ("# A=1", set()),
        ("true # A=1\n#B=2", set()),
        ("A=1 make", set()),
        ("echo A=1", set()),
        ("echo 'x;A=1;' \"; export B=1;\"", set()),
        ("echo x#A=1", set()),
        ("cat <<EOF\nexport A=1\nEOF\nexport B=2", {"B"}),
        ("cat << 'E F' <<-X; C=1\nexport A=1\nE F\nB=2\n\tX\nD=1", {"C", "D"}),
        ("cat <<< A=1; export B=1", {"B"}),
        ("eval 'export A=1'; bash -c 'A=1'", set()),
        ("xA=1; A-B=1; export 'A=1'", {"xA"}),
        ("'", set()),
        ("cat <<EOF\nexport A=1", set()),
    ],
)  # fmt: skip
def test_what_a_line_plainly_sets_is_found_and_nothing_that_only_looks_like_it(command, names):
    assert find_assigned(command) == names


@given(st.text("A=1 ;\n#'\"\\<-E$()&|{}x", max_size=40))
def test_what_is_found_in_any_text_is_written_there(command):
    assert all(f"{name}=" in command.replace("+", "") for name in find_assigned(command))


MATTER = [
    "PATH",
    "CDPATH",
    "MANPATH",
    "CLASSPATH",
    "PYTHONPATH",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "GIT_SSH_COMMAND",
    "GIT_DIR",
    "BASH_ENV",
    "MAKEFLAGS",
    "MAKEFILES",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "CC",
    "CXX",
    "LD",
    "AR",
    "CFLAGS",
    "npm_config_registry",
    "NPM_CONFIG_PREFIX",
    "PIP_INDEX_URL",
    "UV_INDEX_URL",
    "CARGO_HOME",
    "CARGO_BUILD_RUSTC",
    "GOFLAGS",
    "GOPROXY",
    "DOCKER_HOST",
    "KUBECONFIG",
    "BROWSER",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "NODE_OPTIONS",
    "PERL5LIB",
    "RUBYOPT",
    "DOTNET_STARTUP_HOOKS",
    "LUA_INIT",
    "PHPRC",
    "VIMINIT",
    "https_proxy",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSLKEYLOGFILE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "CURL_HOME",
    "WGETRC",
    "PSQLRC",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "FZF_DEFAULT_COMMAND",
    "LESSOPEN",
    "TERMINFO",
    "TMPDIR",
    "HOME",
    "SHELL",
    "PKG_CONFIG_PATH",
    "C_INCLUDE_PATH",
    "ANSIBLE_CONFIG",
    "TF_CLI_CONFIG_FILE",
    "PYTEST_ADDOPTS",
    "GREP_OPTIONS",
    "TAR_OPTIONS",
    "GLOBIGNORE",
    "IFS",
    "ANTHROPIC_BASE_URL",
]
HARMLESS = [
    "A",
    "FOO",
    "GREETING",
    "CI",
    "DEBUG",
    "NODE_ENV",
    "APP_ENV",
    "LANG",
    "LC_ALL",
    "TZ",
    "TERM",
    "COLUMNS",
    "NO_COLOR",
    "FORCE_COLOR",
    "VIRTUAL_ENV",
    "VIRTUAL_ENV_PROMPT",
    "DATABASE_URL",
    "API_KEY",
    "PORT",
    "REGION",
    "LOG_LEVEL",
    "VERSION",
    "SRC",
    "SEED",
    "GOAL",
    "TF_VAR_name",
    "AWS_PROFILE",
]


@pytest.mark.parametrize(("names", "expected"), [(MATTER, True), (HARMLESS, False)])
def test_what_matters_is_known_by_its_class(names, expected):
    assert [name for name in names if matters(name) is not expected] == []


async def test_an_environment_that_is_activated_changes_the_path_and_that_is_told(desk, say):
    desk.write("activate", 'export PATH="/opt/env/bin:$PATH"; export VIRTUAL_ENV=/opt/env\n')

    assert "PATH is now '/opt/env/bin:" in await say(". ./activate")
    assert (await say("echo $PATH")).startswith("/opt/env/bin:")


async def test_a_forged_report_of_any_size_breaks_nothing(say):
    await say("yes 'declare -x A=\"b\"' | head -c 5000000 >&240; exit 0")
    await say("head -c 3000000 /dev/zero >&240; exit 0")

    assert await say("echo ${A-unset}; pwd | wc -l") == "unset\n1"


async def test_exports_that_no_program_could_start_with_are_not_kept(say):
    told = await say('export A="$(head -c 200000 /dev/zero | tr "\\0" x)"')

    assert "What the command exported was not kept" in told
    assert await say("ls >/dev/null && echo ${A-unset}") == "unset"


@given(
    st.dictionaries(st.sampled_from(["A", "PATH", "LD_PRELOAD", "BASH_ENV", "GIT_DIR"]), st.text(max_size=20)),
    st.dictionaries(st.text("AB", min_size=1, max_size=3), st.integers(0, MAX_BYTES)),
    st.text("ABD_EHLNPVRTSI= xport", max_size=40),
)
def test_whatever_was_exported_what_is_kept_is_small_and_seen(small, large, command):
    changes = VariableChanges({**{name: "x" * size for name, size in large.items()}, **small}, frozenset())

    kept = judge_exports(changes, {}, command).changes.set

    assert sum(map(len, (*kept, *kept.values()))) <= MAX_BYTES
    assert all(len(value) <= MAX_LENGTH for value in kept.values())
    assert all(not matters(name) or f"{name}=" in command or name == "PATH" for name in kept)
    assert not any(NEVER_KEPT.fullmatch(name) for name in kept)
