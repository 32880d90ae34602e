"""Which environment variables influence what later commands run, by classes of names."""

import re
from collections.abc import Callable

from everturn.core.patterns import compile_late

NEVER_KEPT = compile_late(
    r"BASH_.*|BASHOPTS|SHELLOPTS|ENV|PS4|PROMPT_COMMAND|POSIXLY_CORRECT|POSIX_PEDANTIC|EXECIGNORE|FPATH|CDPATH|GLOBIGNORE|GLOBSORT|IFS"
)
"""Our own shell obeys these: with one of them each later command would be another one than was approved."""
_FUNCTION = compile_late(r"BASH_FUNC_(.+)(?:%%|\(\))", re.DOTALL)
_BY_BEGINNING = (
    r"LD_|DYLD_|GLIBC_|MALLOC_|BASH|GIT_|SSH_|GPG|GNUPG|SSL|CURL_|WGET|XDG_|LESS|DBUS_|SUDO_|EVERTURN_|CLAUDE_|ANTHROPIC_|"
    # Languages, their package managers and build tools.
    r"PYTHON|PIP_|UV_|POETRY_|PIPENV_|PDM_|HATCH_|TWINE_|IPYTHON|JUPYTER|NODE_(?!ENV$)|NPM_|YARN_|PNPM_|COREPACK_|BUN_|DENO_|PERL|"
    r"RUBY|GEM_|BUNDLE|RAKE|RUST|CARGO_|CGO_|GO(?:BIN|CACHE|DEBUG|ENV|FLAGS|INSECURE|MOD|NO|PATH|PRIVATE|PROXY|ROOT|SUM|TMP|TOOL|VCS|WORK)|"
    r"JAVA_|_JAVA|JDK_|JVM_|MAVEN_|MVN_|GRADLE_|ANT_|SBT_|KOTLIN|SCALA|DOTNET_|NUGET_|MSBUILD|PHP|COMPOSER_|LUA_|R_|JULIA_|GHC|STACK_|CABAL_|"
    r"OCAML|OPAM|ERL_|ELIXIR_|MIX_|HEX_|SWIFT_|ZIG_|EMACS|VIM|MAKE|MFLAGS|GNUMAKE|CMAKE_|CTEST_|NINJA|MESON|BAZEL|CCACHE|SCCACHE|DISTCC|"
    r"PKG_|ACLOCAL|AUTOCONF|AUTOM4TE|LIBTOOL|GCC_|COMPILER_|CLANG|LLVM_|PYTEST_|TOX_|JEST_|ESLINT_|PRE_COMMIT|HUSKY|LEFTHOOK|TS_NODE|BABEL_|"
    # Where commands reach: containers and other machines.
    r"DOCKER_|BUILDKIT_|BUILDX_|COMPOSE_|CONTAINER_|PODMAN_|KUBE|HELM_|TF_(?!VAR_)|ANSIBLE_|VAGRANT_|CLOUDSDK_|RSYNC_|CVS_|SVN_"
)
_BY_END = (
    r"PATHS?|HOME|ROOT|_PREFIX|FLAGS?|OPTS|OPTIONS|_ARGS|WRAPPER|LAUNCHER|(?<!S)RC|CONFIG|CONFIGDIR|_CONFIG_(?:FILE|DIRS?)|_CONF|_INI|"
    r"EDIT|EDITOR|VISUAL|PAGER|BROWSER|ASKPASS|SHELL|COMMAND|_CMD|_PROGRAM|_EXE|_EXEC|_BIN|_PRELOAD|_STARTUP|INIT|_HOOKS?|_PLUGINS?|_LOADERS?|"
    r"PROXY|_REGISTRY|_MIRROR|_CERTS?|_CERT_(?:FILE|DIR)|_BUNDLE|_CA|_CA_FILE|KEYLOGFILE"
)
_BY_NAME = (
    r"IFS|TMPDIR|TEMP|TMP|TZDIR|CC|CXX|CPP|AR|AS|LD|NM|FC|F77|RANLIB|STRIP|OBJCOPY|LEX|YACC|SED|AWK|GREP|TAR|GZIP|M4|ZDOTDIR|GLOBIGNORE|"
    r"HOSTALIASES|LOCALDOMAIN|TERMINFO|TERMINFO_DIRS|TERMCAP|MAILCAPS|DISPLAY|PGPASSFILE|PGSERVICEFILE"
)
_MATTER = compile_late(rf"(?:{_BY_BEGINNING}).*|.*(?:{_BY_END})|(?:{_BY_NAME})", re.IGNORECASE)
_OF_EVERY_PROGRAM = compile_late(
    r"(?:LD|DYLD|GLIBC|MALLOC|GIT|XDG|BASH)_.*|GCONV_PATH|LOCPATH|NLSPATH|TZDIR|HOME|TMPDIR|ENV|IFS"
)


def matters(name: str) -> bool:
    """It decides which programs run, what these load or start, or whom they speak to."""
    return _MATTER.fullmatch(name) is not None or NEVER_KEPT.fullmatch(name) is not None


def is_handed_on(name: str, is_program: Callable[[str], bool]) -> bool:
    """Our own shell may be started with it: the shell reads a command then as whoever judged it has.

    `is_program`: a builtin or a program has this name. An exported function in its place would be another command.
    """
    if function := _FUNCTION.fullmatch(name):
        return not is_program(function[1])
    # Only a shell that somebody types into reads the file that ENV names; to programs it is often a name like any other.
    return name == "ENV" or NEVER_KEPT.fullmatch(name) is None


def reaches_every_program(name: str) -> bool:
    """Plain ones such as cat and ls obey it, too, or git does. The PATH, by which they are found, is another matter."""
    return _OF_EVERY_PROGRAM.fullmatch(name) is not None
