"""Ways to write `cat FILE` that bash makes the same of: by quotes, expansions, runners, scripts, variables, folders and links."""

from random import Random


class Rewritings:
    """Random lines that print a file, if nobody holds them back. Each runs in a folder of its own."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def make(self, name: str) -> str:
        line = self._read(self._spell(name))
        for _ in range(self._random.randint(0, 2)):
            line = self._wrap(line)
        return line

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _spell(self, name: str) -> str:
        """A word that becomes the name."""
        folder, slash, last = name.rpartition("/")
        cut = self._random.randint(1, len(last) - 1) if len(last) > 1 else 1
        head, tail = last[:cut], last[cut:]
        return folder + slash + self._pick(
            last, f"{head}'{tail}'", f'{head}"{tail}"', f"{head}\\{tail}" if tail else last, f"$'{last}'", f"{head}*", f"{head}[{tail[:1] or '*'}]*",
            f"{head}$(echo {tail})", f"{head}`echo {tail}`", f"{head}${{nothing:-{tail}}}", f"{head}{{{tail or 'x'},zzz}}", f"$(printf %s {head} {tail})",
            f"@({last}|zz)", f"{head}$(rev <<< {tail[::-1] or 'x'})",
        )  # fmt: skip

    def _read(self, word: str) -> str:
        """A line that shows the file that a word names."""
        plain = self._pick(
            f"cat {word}",
            f"head -3 {word}",
            f"sort {word}",
            f"cat < {word}",
            f"grep -h . {word}",
            f"sed p {word}",
            f"tac {word}",
        )
        return self._pick(
            plain, plain, plain,
            f"f={word}; cat $f", f"for f in {word}; do cat $f; done", f"set -- {word}; cat $1", f"a=({word}); cat ${{a[@]}}", f"f=({word}); cat $f",
            f"read f <<< {word}; cat $f", f"printf -v f %s {word}; cat $f", f"c='cat {word}'; $c", f"c='cat {word}'; eval $c", f"x=cat; $x {word}",
            f"c=(cat {word}); ${{c[@]}}", f"$(echo cat) {word}", f"echo {word} | xargs cat", f"cat $(ls {word})", f"x='$(cat {word})'; echo ${{x@P}}",
            f"x='a[$(cat {word} >&2)]'; ((x))", f"x='a[$(cat {word} >&2)]'; [[ x -eq 0 ]]", f"x='a[$(cat {word} >&2)]'; echo $((x))", f"export f={word}; bash -c 'cat $f'",
            f"f={word} bash -c 'cat $f'", f"g() {{ cat $1; }}; g {word}", f"g() {{ cat $f; }}; f={word}; g", f"g() {{ $@; }}; g cat {word}",
            f"f={word}; eval 'cat $f'", f"PS4='$(cat {word})'; set -x; :", f"trap 'cat {word}' EXIT", f"trap 'f={word}' DEBUG; f=src/a.py; cat $f",
            f"mapfile -t f <<< {word}; cat $f", f"while read -r f; do cat $f; done <<< {word}", f"echo {word} | while read -r f; do cat $f; done",
            f"ln -s $PWD/{word} link; cat link", f"ln -s . here; cat here/{word}", f"mv {word} moved; cat moved", f"cp {word} copy; cat copy", f"exec 5< {word}; cat <&5",
            f"declare -n r=f; f={word}; cat $r", f"n=f; f={word}; cat ${{!n}}", f"f=src; f+={word}; cat ${{f#src}}", f"f=src/a.py; unset f; cat ${{f-{word}}}",
            f"let f=0; f={word}; cat $f", f"xargs -a {word} echo", f"env F={word} sh -c 'cat $F'", f"python3 -c 'print(open(\"{word}\").read())'", f"echo {word} | sort --files0-from=-",
            f"du --files0-from={word}", f"date -f {word}", f"x={word}; y=x; eval cat \\$$y", f"until cat {word}; do break; done", f"case x in x) cat {word};; esac",
            f"[ -n x ] && cat {word}", f"HOME=$PWD; cat ~/{word}", f"HOME=$PWD/src; cat ~/../{word}", f"PWD=src; cat $PWD/../{word}", f"CDPATH=.; cd src; cat ../{word}",
            f"cd src; cat ../{word}", f"cd src; cat $OLDPWD/{word}", f"cd src/..; cat $PWD/{word}", f"cat //proc/self/cwd/{word}", f"env -C src cat ../{word}", f"bash -O extglob -c 'cat {word}'",
            "find . -name '.en*' -exec cat {} +", f"(cat {word})", f"{{ cat {word}; }}", f"! cat {word}", f"cat {word} | cat", f"shopt -s extglob\ncat {word}",
            f"shopt -s expand_aliases\nalias c='cat {word}'\nc", f"IFS=,; c=cat,{word}; $c", f"source {word}; echo $FOO", f"BASH_ENV={word} bash -c 'echo $FOO'", f"coproc cat {word}; cat <&${{COPROC[0]}}",
        )  # fmt: skip

    def _wrap(self, line: str) -> str:
        quoted = line.replace("'", "'\\''")
        coded = "".join(f"\\x{each:02x}" for each in line.encode())
        return self._pick(
            f"bash -c '{quoted}'", f"eval '{quoted}'", f"bash <<'END'\n{line}\nEND", f"echo '{quoted}' | bash", f"bash <<< '{quoted}'", f"env bash -c '{quoted}'",
            f"timeout 9 bash -c '{quoted}'", f"$(echo bash) -c '{quoted}'", f"printf '{coded}' | bash", f"eval \"$(printf '{coded}')\"", f"source <(echo '{quoted}')",
            f". /dev/stdin <<< '{quoted}'", f"f() {{\n{line}\n}}\nf", f"true; {line}", f"false || {line}", f'x=$({line}); echo "$x"', f'echo "$({line})"', f"cat <<END\n$({line})\nEND",
            f"b=bash; $b -c '{quoted}'", f"cat <(\n{line}\n)", f"if true; then\n{line}\nfi", f"for i in 1; do\n{line}\ndone", f"bash -c \"$(echo '{quoted}')\"", f"cd src && cd .. && {line}",
            f"export c='{quoted}'; bash -c \"$c\"", f"env -S \"bash -c '{line}'\"" if "'" not in line and '"' not in line and "$" not in line else line, f"{line} 2>&1 | cat",
        )  # fmt: skip
