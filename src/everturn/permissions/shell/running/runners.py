"""Programs that run what they are given: data for the search for denied commands. Nothing is approved by this table."""

import msgspec


class Runner(msgspec.Struct, frozen=True, kw_only=True):
    valued: str = ""
    """Letters of the short options that take a value."""
    long: tuple[str, ...] = ()
    """Long options whose value may be the next word. They are recognised by any beginning, as getopt does it."""
    operands: int = 0
    """Words before the command."""
    named: bool = False
    """A name may stand before a compound command."""
    script: str = ""
    """The letters of the options whose value is a script."""
    scripts: tuple[str, ...] = ()
    """The long ones."""
    joined: bool = False
    """All that follows, joined by blanks, is a script."""


_PLAIN = Runner()
_CONTAINER = Runner(valued="euw", long=("--env", "--user", "--workdir", "--env-file"), operands=1)
_NEW_CONTAINER = Runner(
    valued="aceghlmpuvw",
    long=(
        "--env", "--env-file", "--name", "--volume", "--mount", "--user", "--workdir", "--publish", "--network", "--net",
        "--platform", "--label", "--add-host", "--memory", "--cpus", "--gpus", "--hostname", "--ipc",
        "--pid", "--pull", "--restart", "--shm-size", "--tmpfs", "--ulimit", "--cap-add", "--security-opt", "--device",
    ),
    scripts=("--entrypoint",),
    operands=1,
)  # fmt: skip
_COMPOSED = Runner(valued="fpeuw", operands=2)
"""`docker compose exec web ls`: the subcommand and the service stand before it."""
_SHELL = Runner(script="c", valued="oO", long=("--rcfile", "--init-file"))
_PACKAGES = ("--package", "--prefix", "--workspace", "--registry", "--cache", "--userconfig")

RUNNERS: dict[str, Runner] = {
    # Those that the rules look through anyway.
    "timeout": Runner(valued="ks", long=("--kill-after", "--signal"), operands=1),
    "time": Runner(valued="fo", long=("--format", "--output")),
    "nice": Runner(valued="n", long=("--adjustment",)),
    "nohup": _PLAIN,
    "stdbuf": Runner(valued="ioe", long=("--input", "--output", "--error")),
    "command": _PLAIN,
    "builtin": _PLAIN,
    "noglob": _PLAIN,
    "nocorrect": _PLAIN,
    "xargs": Runner(
        valued="IEnLPsda",
        long=("--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-procs", "--process-slot-var"),
    ),
    # Builtins and keywords.
    "exec": Runner(valued="a"),
    "eval": Runner(joined=True),
    "trap": Runner(joined=True),
    "coproc": Runner(named=True),
    "!": _PLAIN,
    "then": _PLAIN,
    "do": _PLAIN,
    "else": _PLAIN,
    "elif": _PLAIN,
    "if": _PLAIN,
    "while": _PLAIN,
    "until": _PLAIN,
    "{": _PLAIN,
    # Another user, another environment, another place.
    "env": Runner(valued="uCa", long=("--unset", "--chdir", "--argv0"), script="S", scripts=("--split-string",)),
    "sudo": Runner(
        valued="ugpCDhrtTUR",
        long=(
            "--user",
            "--group",
            "--prompt",
            "--close-from",
            "--chdir",
            "--host",
            "--role",
            "--type",
            "--command-timeout",
            "--other-user",
            "--chroot",
        ),
    ),
    "doas": Runner(valued="uC"),
    "su": Runner(
        operands=2,
        valued="gGsw",
        long=("--group", "--supp-group", "--shell", "--whitelist-environment"),
        script="c",
        scripts=("--command", "--session-command"),
    ),
    "runuser": Runner(
        valued="gGsuw",
        long=("--group", "--supp-group", "--shell", "--user", "--whitelist-environment"),
        script="c",
        scripts=("--command", "--session-command"),
    ),
    "pkexec": Runner(long=("--user",)),
    "chroot": Runner(long=("--groups", "--userspec"), operands=1),
    "unshare": Runner(
        valued="SGRwl",
        long=(
            "--setuid",
            "--setgid",
            "--map-user",
            "--map-group",
            "--map-users",
            "--map-groups",
            "--root",
            "--wd",
            "--propagation",
            "--setgroups",
            "--monotonic",
            "--boottime",
        ),
    ),
    "nsenter": Runner(valued="tSGW", long=("--target", "--setuid", "--setgid", "--wdns")),
    "setpriv": Runner(
        long=(
            "--ruid",
            "--euid",
            "--rgid",
            "--egid",
            "--reuid",
            "--regid",
            "--groups",
            "--inh-caps",
            "--ambient-caps",
            "--bounding-set",
            "--securebits",
            "--pdeathsig",
            "--selinux-label",
            "--apparmor-profile",
            "--ptracer",
            "--landlock-access",
            "--landlock-rule",
            "--seccomp-filter",
        ),
    ),
    "firejail": _PLAIN,
    "systemd-run": Runner(
        valued="pMHEu",
        long=(
            "--unit",
            "--property",
            "--description",
            "--slice",
            "--service-type",
            "--uid",
            "--gid",
            "--nice",
            "--working-directory",
            "--setenv",
            "--machine",
            "--host",
            "--on-active",
            "--on-boot",
            "--on-calendar",
            "--on-startup",
            "--on-unit-active",
            "--on-unit-inactive",
            "--timer-property",
            "--path-property",
            "--socket-property",
            "--background",
        ),
    ),
    "dbus-run-session": Runner(long=("--config-file", "--dbus-daemon")),
    "fakeroot": Runner(valued="lsib", long=("--lib", "--faked")),
    "proot": Runner(valued="rbw"),
    "gosu": Runner(operands=1),
    "su-exec": Runner(operands=1),
    "tini": _PLAIN,
    "dumb-init": _PLAIN,
    "ssh": Runner(valued="BbcDEeFIiJLlmOopQRSWw", operands=1, joined=True),
    "docker exec": _CONTAINER,
    "docker compose": _COMPOSED,
    "docker-compose": _COMPOSED,
    "podman exec": _CONTAINER,
    "docker run": _NEW_CONTAINER,
    "podman run": _NEW_CONTAINER,
    "podman unshare": _PLAIN,
    "kubectl exec": Runner(valued="cnf", long=("--container", "--namespace", "--filename", "--context"), operands=1),
    "flatpak run": Runner(scripts=("--command",), operands=1),
    "snap run": Runner(long=("--shell",)),
    "setarch": _PLAIN,
    **dict.fromkeys(("linux32", "linux64", "x86_64", "i386", "i686", "uname26"), _PLAIN),
    "choom": Runner(valued="np"),
    "logsave": Runner(operands=1),
    "chdir": Runner(operands=1),
    "heroku run": Runner(valued="ar", long=("--app", "--remote", "--size")),
    "oc rsh": Runner(valued="cn", long=("--container", "--namespace", "--shell"), operands=1),
    "pwsh": Runner(joined=True),
    "powershell": Runner(joined=True),
    "ssh-agent": Runner(valued="atEPO"),
    "dbus-launch": _PLAIN,
    "sg": Runner(operands=1, script="c"),
    "runcon": Runner(valued="turl", operands=1),
    "systemd-inhibit": _PLAIN,
    "systemd-cat": Runner(valued="tp"),
    "daemonize": Runner(valued="acepuloE"),
    "cgexec": Runner(valued="g"),
    "cpulimit": Runner(valued="lpe"),
    "eatmydata": _PLAIN,
    "fakechroot": _PLAIN,
    "sshpass": Runner(valued="pfdP"),
    "setuidgid": Runner(operands=1),
    "envdir": Runner(operands=1),
    "chpst": Runner(valued="uUbenplmdocft"),
    "softlimit": Runner(valued="adfmlopcrst"),
    "pidproxy": Runner(operands=1),
    "trickle": Runner(valued="duswtl"),
    "ifne": Runner(valued="n"),
    "dtach": Runner(valued="NnAcer", operands=1),
    "uclampset": Runner(valued="mMp"),
    "pasta": _PLAIN,
    "bwrap": Runner(
        long=(
            "--chdir",
            "--uid",
            "--gid",
            "--hostname",
            "--proc",
            "--dev",
            "--tmpfs",
            "--dir",
            "--unsetenv",
            "--exec-label",
        )
    ),
    "screen": Runner(valued="cehpsStTX"),
    "tmux new": Runner(valued="censtxyF", joined=True),
    "tmux new-session": Runner(valued="censtxyF", joined=True),
    "tmux new-window": Runner(valued="cent", joined=True),
    "tmux split-window": Runner(valued="celptF", joined=True),
    "xterm": Runner(valued="Tbf"),
    "nix-shell": Runner(valued="pIA", scripts=("--run", "--command")),
    # Another schedule.
    "setsid": _PLAIN,
    "ionice": Runner(valued="cnp", long=("--class", "--classdata", "--pid", "--pgid", "--uid")),
    "taskset": Runner(operands=1),
    "chrt": Runner(operands=1, valued="TPD", long=("--sched-runtime", "--sched-period", "--sched-deadline")),
    "numactl": Runner(valued="NmCpi"),
    "prlimit": _PLAIN,
    "caffeinate": _PLAIN,
    "torsocks": _PLAIN,
    "proxychains": Runner(valued="f"),
    "proxychains4": Runner(valued="f"),
    "xvfb-run": Runner(valued="nesfw"),
    "flock": Runner(
        valued="wE",
        long=("--timeout", "--wait", "--conflict-exit-code"),
        operands=1,
        script="c",
        scripts=("--command",),
    ),
    "watch": Runner(valued="nqs", long=("--interval", "--equexit", "--shotsdir"), joined=True),
    "entr": _PLAIN,
    "parallel": Runner(
        valued="jINPaLSn",
        long=("--jobs", "--max-args", "--arg-file", "--colsep", "--delay", "--timeout", "--sshlogin"),
        joined=True,
    ),
    "sem": Runner(valued="jIN", long=("--jobs", "--id"), joined=True),
    # Another look.
    "strace": Runner(
        valued="eopsuPaIOSXbE",
        long=(
            "--output",
            "--trace",
            "--signal",
            "--string-limit",
            "--columns",
            "--attach",
            "--user",
            "--env",
            "--trace-path",
            "--summary-sort-by",
        ),
    ),
    "ltrace": Runner(valued="eopsuanlFA"),
    "script": Runner(
        script="c",
        scripts=("--command",),
        valued="BEIOTmo",
        long=("--echo", "--log-in", "--log-out", "--log-io", "--log-timing", "--logging-format", "--output-limit"),
        operands=1,
    ),
    "unbuffer": _PLAIN,
    "gdb": Runner(valued="dx", long=("-ex", "-iex", "-x", "--command", "--eval-command", "--init-eval-command")),
    "lldb": Runner(valued="oOsS"),
    "perf stat": Runner(valued="eCIorx"),
    "perf record": Runner(valued="ecCFo"),
    "perf trace": Runner(valued="eCo"),
    "catchsegv": _PLAIN,
    "chronic": _PLAIN,
    "retry": Runner(valued="dt"),
    "valgrind": _PLAIN,
    "rlwrap": _PLAIN,
    "hyperfine": Runner(
        valued="wrmMLnS",
        long=(
            "--warmup",
            "--runs",
            "--min-runs",
            "--max-runs",
            "--parameter-list",
            "--command-name",
            "--export-json",
            "--export-markdown",
            "--style",
        ),
        script="spcC",
        scripts=("--prepare", "--setup", "--cleanup", "--conclude", "--shell"),
        joined=True,
    ),
    "faketime": Runner(operands=1),
    # Boxes of programs.
    "busybox": _PLAIN,
    "toybox": _PLAIN,
    "coreutils": _PLAIN,
    "npx": Runner(valued="pw", long=_PACKAGES, script="c", scripts=("--call",)),
    "pnpx": _PLAIN,
    "bunx": _PLAIN,
    "uvx": _PLAIN,
    "pipx run": _PLAIN,
    "pnpm dlx": _PLAIN,
    "yarn dlx": _PLAIN,
    "conda run": Runner(valued="np"),
    "op run": _PLAIN,
    "doppler run": _PLAIN,
    "dotenvx run": Runner(valued="fe"),
    "aws-vault exec": Runner(operands=1),
    "npm exec": Runner(valued="pw", long=_PACKAGES, script="c", scripts=("--call",)),
    "npm x": Runner(valued="pw", long=_PACKAGES, script="c", scripts=("--call",)),
    "npm explore": Runner(operands=1),
    "pnpm exec": _PLAIN,
    "yarn exec": _PLAIN,
    "yarn run": _PLAIN,
    "bun x": _PLAIN,
    "bun exec": Runner(joined=True),
    "uv tool": Runner(valued="p", long=("--from", "--with", "--python"), operands=1),
    "bundle exec": _PLAIN,
    "poetry run": _PLAIN,
    "pipenv run": _PLAIN,
    "uv run": Runner(
        valued="pwCm",
        long=(
            "--with",
            "--python",
            "--project",
            "--directory",
            "--extra",
            "--group",
            "--env-file",
            "--with-requirements",
            "--package",
        ),
    ),
    "devbox run": _PLAIN,
    "mise exec": _PLAIN,
    "mise x": _PLAIN,
    "direnv exec": Runner(operands=1),
    "asdf exec": _PLAIN,
    "rbenv exec": _PLAIN,
    "pyenv exec": _PLAIN,
    "nodenv exec": _PLAIN,
    "volta run": _PLAIN,
    "rye run": _PLAIN,
    "pdm run": _PLAIN,
    "pixi run": _PLAIN,
    "hatch run": _PLAIN,
    "dotenv": Runner(valued="efv"),
    "cross-env": _PLAIN,
    "git bisect": Runner(operands=1),
    "git submodule": Runner(operands=1, joined=True),
    "fish": Runner(script="cC", scripts=("--command", "--init-command"), valued="dDopf"),
} | dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"), _SHELL)

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash"})
LISTENERS = frozenset(
    {"su", "runuser", "ssh", "at", "batch", "capsh", "newgrp", "sg", "script", "crontab", "parallel", "systemd-run"}
)
"""They may run what they read."""
_DASHES = ("--",)
BEHIND = dict.fromkeys(("kubectl", "oc", "lxc", "incus", "nomad"), _DASHES) | {
    "nix": ("-c", "--command", *_DASHES),
    "tox": _DASHES,
    "cmake": ("-E",),
    "gnome-terminal": _DASHES,
    "zellij": _DASHES,
    "watchexec": _DASHES,
}
"""Of these, what stands behind such a word runs, perhaps in some container."""
INTERPRETERS = frozenset({
    "python", "python2", "python3", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "awk", "gawk", "mawk",
    "tclsh", "wish", "osascript", "pwsh",
})  # fmt: skip
READERS_OF_CODE = frozenset({"source", "."})
RENAMERS = frozenset({"alias", "enable", "hash"})
EVALUATORS = frozenset({
    "test", "[", "[[", "let", "printf", "read", "mapfile", "readarray", "declare", "typeset", "local", "export", "readonly",
    "unset", "getopts", "wait",
})  # fmt: skip
"""Builtins that evaluate the subscript of a name they are given, even a quoted one: `test -v 'a[$(id)]'`."""
CALLERS = {"mapfile": "C", "readarray": "C", "compgen": "CFW", "complete": "CFW", "bind": "x", "fc": "e"}
"""Builtins with options whose value they run, by the letters of these."""
NEVER_BY_PATTERN = frozenset({"watch", "setsid", "ionice", "flock"})
"""An exact rule alone approves them."""
