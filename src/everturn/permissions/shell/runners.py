"""Programs that run what they are given: data for the search for denied commands. Nothing is approved by this table."""

import msgspec


class Runner(msgspec.Struct, frozen=True, kw_only=True):
    valued: str = ""
    """Letters of the short options that take a value."""
    long: frozenset[str] = frozenset()
    """Long options whose value is the next word."""
    operands: int = 0
    """Words before the command."""
    named: bool = False
    """A name may stand before a compound command."""
    script: str = ""
    """The letter of the option whose value is a script."""
    joined: bool = False
    """All that follows, joined by blanks, is a script."""


_PLAIN = Runner()
_CONTAINER = Runner(valued="euw", long=frozenset({"--env", "--user", "--workdir", "--env-file"}), operands=1)
_NEW_CONTAINER = Runner(
    valued="aceghlmpuvw",
    long=frozenset({
        "--env", "--env-file", "--name", "--volume", "--mount", "--user", "--workdir", "--publish", "--network", "--net",
        "--entrypoint", "--platform", "--label", "--add-host", "--memory", "--cpus", "--gpus", "--hostname", "--ipc",
        "--pid", "--pull", "--restart", "--shm-size", "--tmpfs", "--ulimit", "--cap-add", "--security-opt", "--device",
    }),
    operands=1,
)  # fmt: skip
_COMPOSED = Runner(valued="fpeuw", operands=2)
"""`docker compose exec web ls`: the subcommand and the service stand before it."""
_SHELL = Runner(script="c", valued="oO")

RUNNERS: dict[str, Runner] = {
    # Those that the rules look through anyway.
    "timeout": Runner(valued="ks", operands=1),
    "time": Runner(valued="fo"),
    "nice": Runner(valued="n"),
    "nohup": _PLAIN,
    "stdbuf": Runner(valued="ioe"),
    "command": _PLAIN,
    "builtin": _PLAIN,
    "noglob": _PLAIN,
    "nocorrect": _PLAIN,
    "xargs": Runner(valued="IEnLPsda"),
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
    "env": Runner(valued="uC", script="S"),
    "sudo": Runner(valued="ugpCDhrtTUR"),
    "doas": Runner(valued="uC"),
    "su": Runner(valued="gGsw", script="c"),
    "runuser": Runner(valued="gGsu", script="c"),
    "pkexec": Runner(),
    "chroot": Runner(operands=1),
    "unshare": Runner(valued="SG"),
    "nsenter": Runner(valued="tSG"),
    "setpriv": _PLAIN,
    "firejail": _PLAIN,
    "systemd-run": Runner(valued="pMHEu"),
    "dbus-run-session": _PLAIN,
    "fakeroot": _PLAIN,
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
    "setarch": Runner(operands=1),
    **dict.fromkeys(("linux32", "linux64", "x86_64", "i386", "i686", "uname26"), _PLAIN),
    "choom": Runner(valued="np"),
    "logsave": Runner(operands=1),
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
        long=frozenset(
            {
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
            }
        )
    ),
    "screen": Runner(valued="cehpsStTX"),
    "tmux new": Runner(valued="censtxyF", joined=True),
    "tmux new-session": Runner(valued="censtxyF", joined=True),
    "tmux new-window": Runner(valued="cent", joined=True),
    "tmux split-window": Runner(valued="celptF", joined=True),
    "xterm": Runner(valued="Tbf"),
    "nix-shell": Runner(valued="pIA", script="r"),
    # Another schedule.
    "setsid": _PLAIN,
    "ionice": Runner(valued="cnp"),
    "taskset": Runner(operands=1),
    "chrt": Runner(operands=1, valued="TPD"),
    "numactl": Runner(valued="NmCpi"),
    "prlimit": _PLAIN,
    "caffeinate": _PLAIN,
    "torsocks": _PLAIN,
    "proxychains": Runner(valued="f"),
    "proxychains4": Runner(valued="f"),
    "xvfb-run": Runner(valued="nesfw"),
    "flock": Runner(valued="wE", operands=1, script="c"),
    "watch": Runner(valued="nq", joined=True),
    "entr": _PLAIN,
    "parallel": Runner(valued="jINP", joined=True),
    # Another look.
    "strace": Runner(valued="eopsuPaIOSXbE"),
    "ltrace": Runner(valued="eopsuanlFA"),
    "script": Runner(script="c", valued="BEIOTmo"),
    "unbuffer": _PLAIN,
    "gdb": Runner(valued="dx", long=frozenset({"-ex", "-iex", "-x", "--command"})),
    "lldb": Runner(valued="oOsS"),
    "perf stat": Runner(valued="eCIorx"),
    "perf record": Runner(valued="ecCFo"),
    "perf trace": Runner(valued="eCo"),
    "catchsegv": _PLAIN,
    "chronic": _PLAIN,
    "retry": Runner(valued="dt"),
    "valgrind": _PLAIN,
    "rlwrap": _PLAIN,
    "hyperfine": Runner(valued="wrmMspLn", joined=True),
    "faketime": Runner(operands=1),
    # Boxes of programs.
    "busybox": _PLAIN,
    "toybox": _PLAIN,
    "npx": Runner(valued="p", script="c"),
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
    "npm exec": Runner(script="c"),
    "pnpm exec": _PLAIN,
    "yarn exec": _PLAIN,
    "bundle exec": _PLAIN,
    "poetry run": _PLAIN,
    "pipenv run": _PLAIN,
    "uv run": _PLAIN,
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
} | dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash"), _SHELL)

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash"})
LISTENERS = frozenset({"su", "runuser", "ssh", "at", "batch", "capsh", "newgrp", "sg"})
"""They may run what they read."""
_DASHES = ("--",)
BEHIND = dict.fromkeys(("kubectl", "oc", "lxc", "incus", "nomad"), _DASHES) | {
    "nix": ("-c", "--command", *_DASHES),
    "fd": ("-x", "--exec", "-X", "--exec-batch"),
    "fdfind": ("-x", "--exec", "-X", "--exec-batch"),
    "gnome-terminal": _DASHES,
    "start-stop-daemon": ("-x", "--exec", "-a", "--startas"),
    "zellij": _DASHES,
    "watchexec": _DASHES,
}
"""Of these, what stands behind such a word runs, perhaps in some container."""
INTERPRETERS = frozenset({
    "python", "python2", "python3", "perl", "ruby", "node", "deno", "bun", "php", "lua", "awk", "gawk", "mawk", "tclsh",
    "osascript", "pwsh",
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
