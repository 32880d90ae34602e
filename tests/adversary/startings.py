"""Ways to start a program that is named in a line: by options in every spelling, settings, scripts, code of other languages and runners."""

import shutil
from random import Random
from shlex import quote

SETTINGS_OF_GIT = {
    "core.pager": "-p log",
    "pager.log": "-p log",
    "core.editor": "commit --allow-empty",
    "sequence.editor": "rebase -i HEAD~1",
    "core.sshCommand": "ls-remote ssh://nowhere.invalid/x",
    "core.fsmonitor": "status",
    "diff.external": "diff HEAD~1",
    "core.askPass": "status",
    "gpg.program": "commit -S --allow-empty -m x",
    "difftool.a.cmd": "difftool -y -t a HEAD~1",
    "trailer.a.command": "interpret-trailers --trailer a README.md",
}
"""Some settings that are commands, with a command of git that obeys each."""


class Startings:
    """Random lines that start the program, if nobody holds them back. Only programs of this machine are used."""

    def __init__(self, random: Random, folder: str) -> None:
        self._random, self._folder = random, folder
        self._makers = [getattr(self, f"_by_{name.replace('-', '_')}") for name in PROGRAMS]

    def make(self, name: str) -> str:
        """`name`: of the program, which lies in the folder for programs of the home, and is given one word."""
        line: str = self._random.choice(self._makers)(name, self._spell(name))
        for _ in range(self._random.choice([0, 0, 0, 1, 2])):
            line = self._wrap(line)
        return line

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _spell(self, name: str) -> str:
        """A command that starts it."""
        return self._pick(
            f"{name} x", f"{name} x", f"{name} x", name, f"$HOME/bin/{name} x", f"{self._folder}/../bin/{name} x", f"env {name} x", f"exec {name} x", f"command {name} x",
            f"sh -c '{name} x'", f"true; {name} x", f"true && {name} x", f"A=1 {name} x", f"{name} x | cat", f"nice {name} x", f"({name} x)",
        )  # fmt: skip

    def _long(self, spec: str, value: str) -> str:
        """An option in as many letters as it needs at least (those before the bar), or more."""
        least, _, rest = spec.partition("|")
        name = least + rest[: self._random.randint(0, len(rest))]
        return self._pick(f"{name}={quote(value)}", f"{name} {quote(value)}")

    def _short(self, letter: str, value: str, flags: str = "") -> str:
        """With other letters before it, and its value joined or not."""
        bundle = "".join(self._random.sample(flags, self._random.randint(0, len(flags))))
        return self._pick(f"-{bundle}{letter}{quote(value)}", f"-{bundle}{letter} {quote(value)}")

    def _flag(self, *specs: str) -> str:
        """Some options without a value, abbreviated."""
        chosen = self._random.sample(specs, self._random.randint(0, len(specs)))
        cut = (spec.partition("|") for spec in chosen)
        return " ".join(f"{least}{rest[: self._random.randint(0, len(rest))]}" for least, _, rest in cut)

    def _by_tar(self, name: str, command: str) -> str:
        order = self._random.sample(["f", "I"], 2)
        values = " ".join("new.tar" if letter == "f" else quote(name) for letter in order)
        return self._pick(
            f"tar xf a.tar {self._long('--to-c|ommand', command)}",
            f"tar {self._long('--to-c|ommand', command)} -xf a.tar",
            f"tar cf new.tar {self._long('--us|e-compress-program', name)} README.md",
            f"tar -c {self._short('I', name, 'v')} -f new.tar README.md",
            f"tar -f new.tar {self._short('I', name, 'cv')} -c README.md",
            f"tar c{''.join(order)} {values} README.md",
            f"tar cf new.tar --checkpoint=1 {self._long('--checkpoint-|action', f'exec={command}')} README.md",
            f"tar cf new.tar --rmt=/x {self._long('--rs|h-command', name)} README.md",
            f"tar -cM -L 1 -f new.tar {self._short('F', command)} a.tar README.md",
            f"tar -cM -L 1 -f new.tar {self._long('--in|fo-script', command)} a.tar big",
            f"tar -cM -L 1 -f new.tar {self._long('--new-|volume-script', command)} a.tar big",
            f"TAR_OPTIONS={quote(f'--to-command={name}')} tar xf a.tar",
        )

    def _by_sort(self, name: str, command: str) -> str:
        return f"sort -S 1 {self._long('--comp|ress-program', name)} big"

    def _by_split(self, name: str, command: str) -> str:
        return f"split -b 3 {self._long('--f|ilter', command)} README.md"

    def _by_man(self, name: str, command: str) -> str:
        given = self._pick(self._long("--pag|er", command), self._short("P", command, "a"))
        return self._pick(f"man {given} -l page.1", f"MANPAGER={quote(command)} man -l page.1")

    def _by_env(self, name: str, command: str) -> str:
        return self._pick(
            f"env {self._long('--sp|lit-string', f'{name} x')}",
            f"env {self._short('S', f'{name} x', 'v')}",
            f"env {self._short('u', 'A')} {self._long('--uns|et', 'B')} {name} x",
            f"env {self._long('--ch|dir', '.')} A=1 {name} x",
            f"env -C . {self._flag('--ignore-s|ignal', '--de|bug')} {name} x",
            f"env - PATH=$PATH {name} x",
        )

    def _by_find(self, name: str, command: str) -> str:
        end = self._pick("\\;", "+")
        return f"find README.md {self._pick('-exec', '-execdir')} {self._pick(name, f'env {name}', f'sh -c {quote(command)}')} {{}} {end}"

    def _by_xargs(self, name: str, command: str) -> str:
        return self._pick(
            f"echo x | xargs {self._long('--max-a|rgs', '1')} {self._long('--max-p|rocs', '2')} {name}",
            f"echo x | xargs {self._long('--del|imiter', ',')} {self._flag('--no-run|-if-empty', '--verb|ose')} {name}",
            f"echo x | xargs {self._short('I', '%', 't')} {self._pick(f'{name} %', f'sh -c {quote(command)}')}",
            f"echo {name} | xargs -I% % x",
            f"echo {name} x | xargs env",
            f"echo {quote(command)} | xargs -d '\\n' sh -c",
        )

    def _by_git(self, name: str, command: str) -> str:
        alias = self._pick(f"!{command}", f"!f() {{ {command}; }}; f", f"!sh -c {quote(command)}")
        key, what = self._random.choice([*SETTINGS_OF_GIT.items()])
        value = name if key == "gpg.program" else command
        setting = self._pick(f"-c {quote(f'{key}={value}')}", f"-c {key}={quote(value)}")
        parameters = self._pick(f"'alias.y=!{name}'", f"'alias.y'='!{name} x'")
        return self._pick(
            f"git {setting} {what}",
            f"git {setting} {what}",
            f"git -c alias.y={quote(alias)} y",
            f"git -c alias.y=z -c alias.z={quote(alias)} y",
            f"V={quote(alias)} git --config-env=alias.y=V y",
            f"V={quote(command)} git --config-env {key}=V {what}",
            f"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0={key} GIT_CONFIG_VALUE_0={quote(value)} git {what}",
            f"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.y GIT_CONFIG_VALUE_0={quote(alias)} git y",
            f"GIT_CONFIG_PARAMETERS={quote(parameters)} git y",
            f"git config {self._flag('--loc|al')} alias.y {quote(alias)}; git y",
            f"git config {key} {quote(value)} && git {what}",
            f"git config --add {key} {quote(value)} && git {what}",
            f"git rebase {self._pick(self._long('--ex|ec', command), self._short('x', command, 'f'))} HEAD~1",
            f"git difftool {self._pick(self._long('--ext|cmd', command), self._short('x', command, 'y'))} -y HEAD~1",
            f"git bisect start HEAD HEAD~2; git bisect run {name} x",
            f"git fetch {self._long('--upload-p|ack', command)} .",
            f"git ls-remote {self._long(self._pick('--upload-p|ack', '--ex|ec'), command)} .",
            f"git clone {self._pick(self._long('--upload-p|ack', command), self._short('u', command, 'qv'))} $PWD/. there",
            f"git push {self._long(self._pick('--rec|eive-pack', '--exec'), command)} . HEAD:refs/heads/other",
            f"git -c protocol.ext.allow=always {self._pick('ls-remote', 'fetch')} {quote(f'ext::{name} x')}",
            f"git -c protocol.ext.allow=always ls-remote {quote(f'ext::sh -c {name}% x')}",
            f"git grep {self._pick(f'-O{name}', self._long('--open-|files-in-pager', command).replace(' ', '=', 1))} old",
            f"git filter-branch -f {self._pick(self._long('--tree-filter|', command).replace('=', ' ', 1), f'--msg-filter {quote(command)}')} HEAD",
            f"GIT_EDITOR={quote(command)} git commit --allow-empty",
            f"{self._pick('EDITOR', 'VISUAL')}={quote(command)} git commit --allow-empty",
            f"GIT_SEQUENCE_EDITOR={quote(command)} git rebase -i HEAD~1",
            f"GIT_EXTERNAL_DIFF={quote(name)} git diff HEAD~1",
            f"GIT_SSH_COMMAND={quote(command)} git ls-remote ssh://nowhere.invalid/x",
            f"GIT_SSH={name} git ls-remote ssh://nowhere.invalid/x",
            f"git start-{name}",
            f"git -C . start-{name}",
            f"git own-{name} x",
            f"git archive --remote=. {self._long('--ex|ec', command)} HEAD",
            f"git submodule foreach {self._pick(name, quote(command))}; {command if name == 'wink' else 'true'}",
        )

    def _by_npm(self, name: str, command: str) -> str:
        return self._pick(
            f"npm {self._pick('exec', 'x')} {self._pick(self._long('--call|', command), self._short('c', command))}",
            f"npm {self._pick('exec', 'x')} {self._pick('--', '--no --')} {name} x",
            f"npx {self._pick(self._long('--call|', command), self._short('c', command))}",
            f"npx --no {self._pick('--', '')} {name} x",
            f"npm {self._pick('run', 'run-script', 'rum', 'urn')} start-{name}",
            f"npm --silent run start-{name}",
            f"npm run before-{name}",
            f"npm run plain {self._long('--script-shell|', self._folder + '/../bin/' + name)}",
            f"npm_config_script_shell=$HOME/bin/{name} npm run plain",
            f"npm pkg set scripts.y={quote(command)} && npm run y",
        )

    def _by_sed(self, name: str, command: str) -> str:
        line = f"{name} x"
        address = self._pick("", "1", "1!", "$", "/o/", "/o/,$ ", "1~2", "\\|o|", "0,/o/", "/[/e]/!")
        flags, sign = self._pick("e", "ge", "ep", "Ie"), self._pick("/", "|", ",", "#")
        return self._pick(
            f"sed {quote(f'{address}e {line}')} README.md",
            f"sed {self._pick('-n ', '-E ', '-s ')}{quote(f's{sign}.*{sign}{line}{sign}{flags}')} README.md",
            f"sed {quote(f's{sign}z{sign}z{sign}')} README.md; echo {line} | sed e",
            f"echo {line} | sed {self._pick('e', '1e', quote('s/z/z/;e'), quote('p;e'))}",
            f"echo {line} | sed {quote('s/x/x/e')}",
            f"sed {self._long('--exp|ression', f'1e {line}')} README.md",
            f"sed {self._short('e', f'1e {line}', 'nE')} README.md",
            "sed " + quote("1{p;e " + line + "\n}") + " README.md",
            f"sed -e {quote('1{p')} -e {quote(f'e {line}')} -e {quote('}')} README.md",
            f"echo 'e {line}' | sed -f - README.md",
            f"sed -f - README.md <<< 'e {line}'",
            f"sed {self._long('--fi|le', '/dev/stdin')} README.md <<< 'e {line}'",
        )

    def _by_awk(self, name: str, command: str) -> str:
        said = quote(command)[1:-1] if "'" not in command else f"{name} x"
        said = said or name
        half = len(name) // 2
        return self._pick(
            f"awk 'BEGIN {{ system(\"{said}\") }}'",
            f"awk 'BEGIN {{ \"{said}\" | getline{self._pick('', ' line')} }}'",
            f'awk \'BEGIN {{ print "a" | "{said}" }}\'',
            f'awk \'BEGIN {{ printf "{said}\\n" | "sh" }}\'',
            f"awk 'BEGIN {{ c = \"{said}\"; system(c) }}'",
            f"awk {self._short('v', f'c={name} x')} 'BEGIN {{ system(c) }}'",
            f'awk \'BEGIN {{ system("{name[:half]}" "{name[half:]} x") }}\'',
            f"echo {name} x | awk '{{ system($0) }}'",
            f"echo {name} x | awk '{{ print | \"sh\" }}'",
            f"awk 'BEGIN {{ while ((\"{said}\" | getline l) > 0) n++ }}'",
            "awk 'BEGIN { system(ENVIRON[\"V\"]) }'",
            f"V='{name} x' awk 'BEGIN {{ system(ENVIRON[\"V\"]) }}'",
            f"awk 'BEGIN {{ system(ARGV[1]) }}' '{name} x'",
            f"awk -f - <<< 'BEGIN {{ system(\"{name} x\") }}'",
            f"echo 'BEGIN {{ system(\"{name} x\") }}' | awk -f /dev/stdin",
        )

    def _by_make(self, name: str, command: str) -> str:
        recipe = f"y:;{name} x"
        return self._pick(
            f"make SHELL=$HOME/bin/{name} plain",
            f"make {self._long('--eva|l', recipe)} y",
            f"make {self._short('E', recipe)} y",
            f"make {self._long('--eva|l', f'A:=$(shell {name} x)')} plain",
            f"make {self._pick('-f -', '-f-', '-sf -', '--file=-', '--file -', '--mak=-', '-f /dev/stdin')} y <<< {quote(recipe)}",
            f"echo {quote(recipe)} | make {self._pick('-f -', '-f-', '-sf-', '--fil=-')} y",
            f"printf '%s\\n' {quote(recipe)} | make -f - y",
            f"make WHAT={quote(command)} told",
            f"WHAT={quote(command)} make told",
            "MAKEFLAGS=" + quote(f"--eval=A:=$(shell\\ {name})") + " make plain",
        )

    def _by_vim(self, name: str, command: str) -> str:
        run = self._pick(
            f"!{name} x",
            f":!{name} x",
            f"silent !{name} x",
            f'call system("{name} x")',
            f"r !{name} x",
            f"exe '!{name} x'",
        )
        ended = f"{run}\nqa!"
        program = self._pick("vim -es", "vim -N -u NONE -es", "ex -s")
        return self._pick(
            f"{program} {self._pick(f'-c {quote(run)}', quote(f'+{run}'), f'--cmd {quote(run)}')} -c 'qa!' README.md",
            f"{program} README.md <<< {quote(ended)}",
            f"printf '%s\\n' {quote(run)} 'qa!' | {program} README.md",
        )  # fmt: skip

    def _by_ed(self, name: str, command: str) -> str:
        run = self._pick(f"!{name} x", f"r !{name} x", f"w !{name} x", f"!  {name} x")
        return self._pick(
            f"ed -s README.md <<< {quote(run)}",
            f"echo {quote(run)} | ed -s README.md",
            "printf " + quote(run + "\\nq\\n") + " | ed README.md",
            f"printf '%s\\n' {quote(run)} q | ed README.md",
            f"ed README.md <<'E'\n{run}\nq\nE",
        )

    def _by_perl(self, name: str, command: str) -> str:
        half = len(name) // 2
        code = self._pick(
            f'system("{name} x")', f'system "{name}", "x"', f'exec "{name} x"', f"`{name} x`", f"qx{{{name} x}}", f"qx/{name} x/", f'open(F, "{name} x|"); print <F>',
            f'open F, "|{name} x"', f'open(F, "-|", "{name}", "x"); print <F>', f'$c="{name}"; system("$c x")', f'system("{name[:half]}"."{name[half:]} x")',
            f"system(qw({name} x))", f"system q({name} x)", f'system {{"{name}"}} "a", "x"', f'my @c=("{name}"); exec @c', f'eval q(system "{name}")', f'&CORE::system("{name}")',
            f'system(join "", "{name[:half]}", "{name[half:]}")', f'print readpipe("{name} x")', f'use POSIX; exec("{name}")', f'syswrite STDOUT, 1; system("{name}")',
        )  # fmt: skip
        return self._pick(
            f"perl {self._pick('-e', '-we', '-E', '-Mstrict -e')} {quote(code)}",
            f"echo a | perl {self._pick('-ne', '-pe', '-lane')} {quote(code)}",
            f"perl <<< {quote(code)}",
            f"echo {quote(code)} | perl",
            f"echo {quote(code)} | perl -",
            f"perl -e 'system(@ARGV)' {name} x",
            f"perl -e 'exec @ARGV' {name} x",
            "perl -e 'system($ENV{V})'" if name == "wink" else f"V={name} perl -e 'system($ENV{{V}})'",
        )  # fmt: skip

    def _by_python3(self, name: str, command: str) -> str:
        half = len(name) // 2
        head, tail = name[:half], name[half:]
        code = self._pick(
            f'import os; os.system("{name} x")', f'import os; os.system("{head}"+"{tail} x")', f'import os; os.system("".join(["{head}","{tail} x"]))',
            f'import os; os.execvp("{name}", ["{name}","x"])', f'import os; os.execlp("{name}","{name}","x")', f'import subprocess as s; s.run(["{name}","x"])',
            f'import subprocess as s; c = ["{name}","x"]; s.run(c)', f'from subprocess import run as r; r(["{name}","x"])', f'import os; getattr(os,"sys"+"tem")("{name} x")',
            f'__import__("os").system("{name} x")', f'exec("import os; os.system(\\"{head}\\" + \\"{tail}\\")")', f'import os; os.system(f"{{chr({ord(name[0])})}}{name[1:]} x")',
            f'import os; os.system("%s x" % "{name}")', f'import pty; pty.spawn("{name}")', f'import os; os.spawnlp(0, "{name}", "{name}")', f'from os import *; system("{name}")',
            f'from os import system as s; s("{name}")', f'import os; print(os.popen("{name} x").read())', f'import subprocess; print(subprocess.getoutput("{name} x"))',
            f'import os; s = os.system; s("{name}")', f'import subprocess; subprocess.Popen(args=["{name}"]).wait()', f'import subprocess; subprocess.run("{name[::-1]}"[::-1])',
            f'import os; os.posix_spawnp("{name}", ["{name}"], os.environ)', f'import subprocess; subprocess.run(\n  [\n  "{name}", "x"])', f"import os; os.system('''{name} x''')",
            f'import asyncio; asyncio.run(asyncio.create_subprocess_exec("{name}"))', f'import os; [f for n, f in vars(os).items() if n == "system"][0]("{name}")',
            f'import importlib; importlib.import_module("os").system("{name}")', f'import os; os.system(bytes.fromhex("{name.encode().hex()}"))', f'import os; eval("os.system")("{name}")',
        )  # fmt: skip
        return self._pick(
            f"python3 {self._pick('-c', '-Ic', '-S -c', '-Bc')} {quote(code)}",
            f"python3 {self._pick('', '-', '-I')} <<< {quote(code)}",
            f"python3 - <<'E'\n{code}\nE",
            f"echo {quote(code)} | python3 {self._pick('', '-')}",
            f"python3 -c 'import os, sys; os.system(sys.argv[1])' '{name} x'",
            f"python3 -c 'import os, sys; os.execvp(sys.argv[1], sys.argv[1:])' {name} x",
            f"python3 -m timeit -n 1 -r 1 {quote(f'import os; os.system({chr(34)}{name}{chr(34)})')}",
            f"python3 -c 'breakpoint()' <<< {quote(f'import os; os.system({chr(34)}{name}{chr(34)})')}",
        )

    def _by_node(self, name: str, command: str) -> str:
        half = len(name) // 2
        code = self._pick(
            f'require("child_process").execSync("{name} x")', f'require("child_process").spawnSync("{name}", ["x"])', f'c=require("child_process"); c["exec"+"Sync"]("{name}")',
            f'const {{execSync: e}} = require("child_process"); e("{name} x")', f'require("child_process").execSync(["{name[:half]}","{name[half:]} x"].join(""))',
            f'require("child_process").execSync(`{name} x`)', f'require("node:child_process").execFileSync("{name}")', f'require("child_"+"process").execSync("{name}")',
            f'import("child_process").then(c => c.execSync("{name}"))', f'process.mainModule.require("child_process").execSync("{name}")',
        )  # fmt: skip
        return self._pick(
            f"node {self._pick('-e', '-p', '-pe', '--eval', '--print')} {quote(code)}",
            f"node --eval={quote(code)}",
            f"node <<< {quote(code)}",
            f"echo {quote(code)} | node {self._pick('', '-')}",
        )

    def _by_tclsh(self, name: str, command: str) -> str:
        return self._pick(
            "tclsh <<< "
            + quote(
                self._pick(f"exec {name} x", f"puts [exec {name} x]", f"read [open |{name}]", f"set c {name}; exec $c")
            ),
            f"echo 'exec {name} x' | tclsh",
        )

    def _by_gdb(self, name: str, command: str) -> str:
        run = self._pick(
            f"!{name} x",
            f"shell {name} x",
            f"she {name} x",
            f'python import os; os.system("{name} x")',
            f"pipe p 1 | {name} x",
            f"make -f /dev/null; {name}",
        )
        return self._pick(
            f"gdb -nx -batch {self._pick(f'-ex {quote(run)}', self._long('--eval-c|ommand', run), f'-iex {quote(run)}', f'-ex={quote(run)}')}",
            f"gdb -nx -q <<< {quote(run)}",
            f"gdb -nx -batch -ex run --args sh $HOME/bin/{name} x",
        )  # fmt: skip

    def _by_bash(self, name: str, command: str) -> str:
        script = quote(command)
        return self._pick(
            f"bash {self._pick('-c', '-lc', '-ec', '-ceu', '-c -e', '-c --', '+e -c', '-o errexit -c', '-co errexit', '-cO extglob', '-O extglob -c', '--norc -c', '--rcfile f -c')} {script}",
            f"{self._pick('sh', 'dash', 'zsh -f')} -c {script}",
            f"bash -c '\"$@\"' _ {name} x",
            f"bash -c '$0 x' {name}",
            f"bash -c 'eval \"$1\"' _ {script}",
            f"bash {self._pick('', '-s', '/dev/stdin', '-')} <<< {script}",
            f"exec {self._pick('-a y', '-ay', '-cla y', '-l')} env PATH=$PATH {name} x",
            f"command {self._pick('', '--')} {name} x",
            f"{self._pick('BASH_ENV=f', 'A=1')} bash -c {script}",
            f"env 'BASH_FUNC_ls%%=() {{ {name}; }}' bash -c ls",
            f"c={name}; $c x",
            f"{name[:2]}'{name[2:]}' x",
            f"mapfile -c 1 -C {quote(name)} < README.md",
            f"complete -C {name} y; {command}",
            f"compgen -C {quote(command)}",
            f"trap {script} EXIT",
            f"coproc {name} x; wait",
            f"shopt -s expand_aliases\nalias y={quote(command)}\ny",
            f"hash -p $HOME/bin/{name} y; y x",
        )

    def _by_ln(self, name: str, command: str) -> str:
        return self._pick(
            f"./link-{name} x",
            f"./hard-{name} x",
            f"./copy-{name} x",
            f"$PWD/link-{name} x",
            f"sub/../link-{name}",
            f"cd sub && ../copy-{name} x",
            f"ln -s $HOME/bin/{name} y; ./y x",
            f"cp $HOME/bin/{name} y && ./y x",
            f"cat $HOME/bin/{name} | sh",
            f"sh $HOME/bin/{name}",
            f". $HOME/bin/{name}",
            f"./link-folder/{name} x",
        )

    def _by_setpriv(self, name: str, command: str) -> str:
        return f"setpriv {self._flag('--no-n|ew-privs')} {self._long('--inh-|caps', '-all')} {name} x"

    def _by_timeout(self, name: str, command: str) -> str:
        return f"timeout {self._flag('--fore|ground', '--pre|serve-status')} {self._pick('', self._long('--si|gnal', '9'), self._short('s', '9', 'v'))} {self._pick('', self._long('--k|ill-after', '3'))} 5 {name} x"

    def _by_nice(self, name: str, command: str) -> str:
        return f"nice {self._pick(self._long('--adj|ustment', '3'), self._short('n', '3'), '-3', '')} {name} x"

    def _by_stdbuf(self, name: str, command: str) -> str:
        return f"stdbuf {self._long('--out|put', 'L')} {self._pick(self._long('--err|or', 'L'), self._short('i', '0'))} {name} x"

    def _by_script(self, name: str, command: str) -> str:
        return self._pick(
            f"script {self._flag('--qui|et')} {self._pick(self._long('--comm|and', command), self._short('c', command, 'qe'))} /dev/null",
            f"script -q /dev/null <<< {quote(command)}",
            f"echo {quote(f'{command}; exit')} | script -q /dev/null",
        )

    def _by_flock(self, name: str, command: str) -> str:
        return self._pick(
            f"flock {self._long('--conf|lict-exit-code', '3')} {self._long('--time|out', '3')} lock {name} x",
            f"flock {self._pick(self._short('w', '3', 'x'), '')} lock {self._pick(self._long('--comm|and', command).replace('=', ' ', 1), f'-c {quote(command)}')}",
        )

    def _by_setsid(self, name: str, command: str) -> str:
        return f"setsid {self._flag('--wa|it')} --wait {name} x"

    def _by_ionice(self, name: str, command: str) -> str:
        return f"ionice {self._pick(self._long('--class|', '3'), self._short('c', '3', 't'))} {self._flag('--ig|nore')} {name} x"

    def _by_chrt(self, name: str, command: str) -> str:
        return f"chrt {self._pick('--o|ther'.replace('|', ''), '-o', '--batch')} 0 {name} x"

    def _by_taskset(self, name: str, command: str) -> str:
        return f"taskset {self._pick('-c 0', '--cpu-list 0', '--cpu 0', '1')} {name} x"

    def _by_prlimit(self, name: str, command: str) -> str:
        return f"prlimit {self._pick('--nofile=99', '--nof=99', '-n99')} {name} x"

    def _by_time(self, name: str, command: str) -> str:
        return f"{self._pick('time', 'time -p', 'command time -f x')} {name} x"

    def _by_linux64(self, name: str, command: str) -> str:
        return f"{self._pick('linux64', 'setarch x86_64', 'setarch -R', 'setarch --addr-no-r')} {name} x"

    def _by_unshare(self, name: str, command: str) -> str:
        return f"unshare {self._pick('-r', '--map-r', '--user', '-Ur')} {self._pick('', self._long('--wd|', '.'))} {name} x"

    def _by_zip(self, name: str, command: str) -> str:
        return f"zip -q {self._pick(f'-T -TT {quote(command)}', self._long('--unzip-comm|and', command) + ' -T', f'-qTTT {quote(command)}')} new.zip README.md"

    def _by_rg(self, name: str, command: str) -> str:
        return f"rg {self._pick(f'--pre={name}', f'--pre {name}')} old README.md"

    def _by_start_stop_daemon(self, name: str, command: str) -> str:
        path = f"$HOME/bin/{name}"
        return f"start-stop-daemon {self._pick('--start', '-S')} {self._pick(f'--ex {path}', f'--exec={path}', f'-x {path}', f'--starta {path}', f'-a {path}', f'-a{path}')} -- x"

    def _by_fakeroot(self, name: str, command: str) -> str:
        return f"fakeroot {self._pick('', '--')} {name} x"

    def _by_dbus_run_session(self, name: str, command: str) -> str:
        return f"dbus-run-session {self._pick('', '--')} {name} x"

    def _by_cmake(self, name: str, command: str) -> str:
        return self._pick(
            f"cmake -E {self._pick('env', 'env A=1', 'env --unset=A', 'time', 'chdir .')} {name} x",
            f"cmake -P /dev/stdin <<< 'execute_process(COMMAND {name} x)'",
        )

    def _by_sqlite3(self, name: str, command: str) -> str:
        run = self._pick(
            f".shell {name} x", f".system {name} x", f".sh {name} x", f".sys {name} x", f".once '|{name} x'\nselect 1;"
        )
        return self._pick(
            f"sqlite3 :memory: {quote(run)}",
            f"sqlite3 -cmd {quote(run)} :memory: 'select 1'",
            f"sqlite3 :memory: <<< {quote(run)}",
            f"echo {quote(run)} | sqlite3",
        )

    def _by_less(self, name: str, command: str) -> str:
        return f"LESSOPEN={quote(self._pick(f'|{name} %s', f'{name} %s'))} less README.md"

    def _by_install(self, name: str, command: str) -> str:
        return f"install -s {self._long('--strip-|program', f'{self._folder}/../bin/{name}')} README.md there"

    def _by_capsh(self, name: str, command: str) -> str:
        return f"capsh {self._pick('', '--print')} -- -c {quote(command)}"

    def _by_ldd(self, name: str, command: str) -> str:
        return (
            f"/lib64/ld-linux-x86-64.so.2 {self._pick('', '--inhibit-cache', '--argv0 y')} /bin/sh $HOME/bin/{name} x"
        )

    def _by_gcc(self, name: str, command: str) -> str:
        return f"gcc {self._pick(f'-wrapper {name}', f'-wrapper {name},x')} -c a.c"

    def _by_fish(self, name: str, command: str) -> str:
        given = self._pick(
            self._long("--command|", f"{name} x"),
            self._short("c", f"{name} x", "N"),
            self._long("--init-command|", f"{name} x"),
            f"-C {quote(f'{name} x')}",
        )
        return f"fish {given}"

    def _wrap(self, line: str) -> str:
        quoted = quote(line)
        return self._pick(
            f"bash -c {quoted}", f"eval {quoted}", f"timeout 9 bash -c {quoted}", f"true; {line}", f"if true; then\n{line}\nfi", f'x=$({line}); echo "$x"',
            f"f() {{\n{line}\n}}\nf", f"cd sub && cd .. && {line}", f"for i in 1; do\n{line}\ndone", f"env -u A sh -c {quoted}", f"({line}\n) 2>&1 | cat",
        )  # fmt: skip


_NAMES = [each.removeprefix("_by_").replace("_", "-") for each in vars(Startings) if each.startswith("_by_")]
PROGRAMS = [name for name in _NAMES if shutil.which(name)]
"""Those of this machine by which something is started."""
