"""Random command lines: what rules allow, what they do not, and everything in which the one can hide in the other."""

from random import Random

RULES = {
    "allow": [
        "Bash(good:*)",
        "Bash(fine run *)",
        "Bash(exact one)",
        "Bash(* --ok)",
        "Bash(left*)",
        "Edit(/ok.txt)",
    ],
    "ask": ["Bash(good ask *)"],
    "deny": ["Bash(bad:*)", "Bash(good * --never)", "Read(./secret)"],
}
GOOD = ("good", "good", "good a", "good a b", "fine run", "fine run x", "exact one", "other --ok", "leftish", "left x")
READERS = (
    "echo hi",
    "ls",
    "cat a",
    "head -n 1 a",
    "wc -l a",
    "grep x a",
    "find . -name a",
    "git status",
    "true",
    "pwd",
    "[ -f a ]",
    "test -d a",
    "sed -n 1p a",
    "[[ -f a ]]",
    "[[ -n x ]]",
    "git status -uno",
    "ls | head",
    "find . | xargs",
    "ls | grep a | xargs wc -l",
)
BAD = ("bad", "bad x", "evil", "fine", "fine other", "exact", "exact one two", "good ask x", "good a --never", "other")
TRICKS = (
    "find . -exec bad {} +",
    "find . -exec evil ';'",
    "sort -o out.txt a",
    "git -c alias.x='!bad' x",
    "xargs -n1 good",
    "sudo good",
    "sh -c bad",
    "bash -c 'good'",
    "eval bad",
    "eval 'good; bad'",
    "exec bad",
    "command bad",
    "builtin eval bad",
    "source ./a",
    ". ./a",
    "trap bad EXIT",
    "alias good=bad",
    "coproc bad",
    "time bad",
    "! bad",
    "env bad",
    "env good",
    "export PATH=/nowhere",
    "declare -x A=1",
    "read A",
    "mapfile A",
    "printf -v A x",
    "set -- bad",
    "shift",
    '"$@"',
    "unset PATH",
    "hash -p ./a good",
    "enable -n echo",
    "shopt -s expand_aliases",
    "X=bad",
    "$X",
    "test -v 'a[$(bad)]'",
    "[[ -v 'a[$(bad)]' ]]",
    "[[ 1 -eq 'a[$(bad)]' ]]",
    "(( a[$(bad)] ))",
    "let 'a[$(bad)]=1'",
    "printf '%n' 'a[$(bad)]'",
    "tee out.txt",
    "cat secret",
    "sed -i s/a/b/ a",
    "sed -n '1e bad' a",
    "[ -v 'a[$(bad)]' ]",
    "[ $x -v 'a[$(bad)]' ]",
    "[[ -f a ]]",
    "printf %s x",
    "printf '%ln' PATH",
    "env $x bad",
    "command {bad,x}",
    "nohup ba?",
    "source ./a/bin/activate",
    "xargs -I{} {} <a",
    "a=(bad)",
    '"${a[@]}"',
    "a[$(bad)]=1",
    "[[ a =~ $(bad) ]]",
    "[[ a =~ (b|$(bad)) ]]",
    "[[ -f $(bad) ]]",
    "[[ -z ${x[$(bad)]} ]]",
    "[[ ! -v 'a[$(bad)]' ]]",
    "[[ -n x && $(bad) ]]",
    "good {1..3}",
    "local -n x=a",
    "declare -n x='a[$(bad)]'",
    "printf -v 'a[$(bad)]' x",
    "x='$(bad)'",
    "echo ${x@P}",
    "echo ${x@E}",
    "mapfile -C bad -c 1 x <a",
    "bash <<< bad",
    "bash -s <a",
    "echo bad | sh",
    "echo bad | xargs",
    "echo bad | xargs env",
    "echo bad | xargs -I{} {}",
    "ls | xargs bad",
    "ls | xargs cat <a",
    "find . -printf bad | xargs cat",
    "coproc X { bad; }",
    "time -p bad",
    "case $(bad) in x) ;; esac",
    "exec {fd}>out.txt",
    "good &>>out.txt",
    "wait -n -p 'a[$(bad)]'",
    "kubectl exec x -- bad",
    "ssh x bad",
)
WRAPPERS = (
    "timeout 5",
    "timeout -k 1 5",
    "timeout -s KILL 5s",
    "nice",
    "nice -n 5",
    "nohup",
    "time",
    "time -p",
    "command",
    "command -p",
    "stdbuf -oL",
    "xargs",
    "nice nohup",
    "timeout",
    "nice -n",
    "env",
    "setsid",
    "builtin",
)
ASSIGNMENTS = (
    "NODE_ENV=test",
    "LANG=C",
    "NO_COLOR=1",
    "FOO=1",
    "PATH=.",
    "IFS=/",
    "NODE_ENV=$(bad)",
    "BASH_ENV=./a",
    "A=1 B=2",
)
WORDS = (
    "x", "a.b", "-v", "--flag", "--key=value", "'a b'", '"a b"', "'; bad'", '"; bad"', "'$(bad)'", r"\;", r"\&\&", "a\\ b", "$HOME",
    '"$HOME"', "${HOME}", "$((1+2))", "$'a\\nb'", "*.x", "a?", "[a]", "{a,b}", "~", "~/x", "'#'", "a#b", '"it\'s"', "'say \"x\"'",
    r"\'", r"\"", '"\\$(bad)"', '"\\`bad\\`"', "--", "-", "%s", "a=b", '""', "''", "!", "a!b", "@", "+x", "ä", "'日本'",
    '"5$"', '"$"', "{1..3}", "{a..$(bad)}", "a\\\nb", "x=(a)", "@(a|b)", "$'\\u0041'",
)  # fmt: skip
LIVE_WORDS = (
    "$({0})", '"$({0})"', "`{0}`", '"`{0}`"', "<({0})", ">({0})", "${{x:-$({0})}}", '"${{x:=`{0}`}}"', "$(( $({0}) ))", "$((a[$({0})]))",
    "$[ $({0}) ]", "x$({0})y", "'x'$({0})", '"\'$({0})\'"', "\\\\$({0})", "$(\n{0}\n)", "$( ({0}) )", "$({{ {0}; }})", '"a $({0}) b"',
    "${{x@P}}", "${{!x}}", "$'\\x27'$({0})", "{{a,$({0})}}",
    "${{x/a/$({0})}}", "${{x[$({0})]}}", "${{x:$({0})}}", "{{1..$({0})}}", "\"$(cat <<'E'\n{0}\nE\n)\"", '"$(cat <<E\n$({0})\nE\n)"', "<(cat <({0}))",
    '"${{x:-"$({0})"}}"', '${{x+"`{0}`"}}', "$(cat <<E | {0}\nx\nE\n)",
)  # fmt: skip
REDIRECTS = (
    ">/dev/null", "2>/dev/null", "2>&1", ">/dev/null 2>&1", "1>&2", "<a", "<<<x", '<<<"a b"', "2>&-", "&>/dev/null", ">ok.txt", ">>ok.txt",
    ">out.txt", ">>out.txt", "2>err.txt", ">|out.txt", "&>out.txt", "<>out.txt", ">&out.txt", "{fd}>out.txt", ">'out.txt'", ">~/out.txt",
    '>"$HOME/out.txt"', ">$(bad)", "<<<$(bad)", "<secret", ">./ok.txt", ">sub/../out.txt", ">&\u0663",
    "&>>out.txt", "3<>out.txt", "<<<'$(bad)'", "< <(bad)", "> >(bad)", "2>&1 >out.txt", "{fd}<>out.txt",
)  # fmt: skip
SAFE_REDIRECTS = 12
SEPARATORS = (
    "; ",
    " && ",
    " || ",
    " | ",
    " |& ",
    " & ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    " &&\n",
    " |\n",
    "\n\n",
    ";;",
    "; ; ",
    " && # bad\n",
    " || # it's\n# (\n",
    " | # `\n",
    " &&\\\n",
    " && \\\n# bad\n",
)
NOISE = "'\"\\\n`$;&|()<>{}[]# \t!*?~=,:-%@+^\rx0ä\u00a0\u200b"
SPELLINGS = (
    "'{0}'",
    '"{0}"',
    "\\{0}",
    "{1}''{2}",
    '{1}""{2}',
    "{1}\\{2}",
    "{1}'{2}'",
    "$'{0}'",
    "{1}$@{2}",
    "{1}\\\n{2}",
    "{{{0},}}",
    "{1}$x{2}",
    "{1}${{x}}{2}",
    "{1}{{{2},x}}",
)

DELIMITERS = (
    ("'E'", "E"), ("'E'", "E"), ('"E"', "E"), ("E", "E"), ("\\E", "E"), ("E'F'", "EF"), ("'E''F'", "EF"), ("$'E'", "E"), ("''", ""),
    ('"E"F', "EF"), ('"it\'s"', "it's"), ("'E F'", "E F"),
)  # fmt: skip
"""As they are written, and the line that ends the text."""
SETTERS = (
    "x=1", "x=0", "x=a", "x='a b'", 'x="a"', "x=$(cat a)", "x=`cat a`", "x=$(find . -name a)", "x=$(ls)", "x=$(git ls-files)", "x=$((1+2))",
    "x=$(seq 1 2)", "x=${y:-a}", "x=${x%b}", "x=", "x=a y=b", "x=*", "x=~", "read x <a", "read -r x y <a", "x=$(pwd)", "x=$x", "y=a; x=$y",
    "x=bad", "x='$(bad)'", "x='a[$(bad)]'", "x=-o", "x='-o out.txt'", "x='-exec bad ;'", "x=--output=out.txt", "x='1e bad'", "x+=bad",
    "x=$(bad)", "x=`bad`", "x=${y:-$(bad)}", "x=${y:=bad}", "IFS=b", "PATH=.", "x=(bad)", "x[$(bad)]=1", "x=secret", "x=out.txt", "x=a; x=bad",
    "if true; then x=bad; fi", "true && x=bad", "x=1; for i in a b; do x=bad; done", "x=bad & x=1", "(x=bad)", "x=1 | x=bad", "y=bad; x=$y",
    "BASH_ENV=./a", "x=a:~", "x=$'bad'", "x={bad,b}", "read x <<<bad", "x=1; read x <a", "ENV=a", "x=$((x=2))", "x=%n",
)  # fmt: skip
FRIENDLY_SETTERS = 23
USES = (
    "echo $x", 'echo "$x"', "cat $x", 'cat "$x"', "ls ${x}", 'wc -l -- "$x"', "head -n $x a", 'sed -n "${x}p" a', "echo ${x:-b} ${#x}", "echo $((x+1))",
    "[ $x = 1 ]", '[ "$x" = 1 ]', "[[ $x == b* ]]", "[[ $x -gt 1 ]]", "((x++))", "((x<2)) && ls", 'for f in $x; do cat "$f"; done', "for f in *; do ls $f; done",
    'find . -name a | while read -r f; do sort "$f"; done', "for ((x=0;x<2;x++)); do echo $x; done", "case $x in bad) echo y;; *) ls;; esac", "while read -r y; do echo $y; done <a",
    'while read -r f; do cat "$f"; done < <(find . -name a)', "seq 1 2 | while read x; do echo $x; done", "for x in a b; do cat $x; done", "for x in 1 2; do sed -n ${x}p a; done",
    "cat <(sort a) $(find . -name a)", "grep -c $x a", 'grep -c -- "$x" a', "cat `find . -name a`", "while [ $x -lt 2 ]; do x=$((x+1)); done", "ls {a,b}.txt", 'sort ./"$x"',
    'if [[ -f "$x" && $x != b ]]; then cat "$x"; fi', "sort *", "sed -n 1p *", 'git log -1 -- "$x"', "until [[ $x -ge 2 ]]; do ((x+=1)); done",
    "$x", '"$x"', "sort $x a", 'sort "$x" a', "find . $x", "git log $x", "git -c $x log", "sed $x a", 'sed -n "$x" a', "eval $x", "eval echo $x", "printf $x PATH", "env $x",
    "command $x", "ls >$x", "cat <$x", "cd $x", "cd $x && git status", "echo ${x@P}", "echo ${!x}", "echo ${x[$(bad)]}", "[[ -v $x ]]", "[ -v $x ]", "test $x",
    "[[ $x -eq 1 ]]", "echo $((x))", "echo $(($x))", "echo $[x]", "((x))", "((a[x]))", "let x", "printf -v $x a", "declare $x=1", "export x", "xargs $x <a", "ls | xargs $x",
    "for x in bad; do $x; done", "for PATH in .; do ls; done", "for ((x=0;x<a[$(bad)];x++)); do ls; done", "case $(bad) in *) ls;; esac", "case a in $(bad)) ls;; esac", "case a in a) bad;; esac",
    "while read x; do $x; done <a", "while read x; do eval $x; done <a", "read PATH <a", "read x y PATH <a", "while read -r x; do sort $x; done <a", "for f in $(cat a); do $f; done",
    "x=1; while :; do $x; x=bad; [ $x = bad ] || break; done", "for f in {-o,{x,y}}; do sort $f a; done", "cat < <(bad)", "cat `bad`", "cat `echo \\`bad\\``", "f() { x=bad; }; f; $x",
    'trap "$x" EXIT', "source $x", "sort -o$x a", 'sort "--output=$x" a', "uniq a $x", 'uniq a "$x"', "base64 a $x", "find . -fprint $x", "tree -o $x",
)  # fmt: skip
FRIENDLY_USES = 38


class Grammar:
    """`friendly` is the share of what should be allowed: nearly all of it, so that much is run, and some of the rest."""

    def __init__(self, random: Random, *, friendly: float, mutated: float = 0.12) -> None:
        self._random = random
        self._friendly = friendly
        self._mutated = mutated

    def line(self) -> str:
        text = self._commands(self._random.choice((1, 1, 1, 2, 2, 3)), depth=0)
        if self._rarely(0.06):
            text += self._pick(
                (
                    " # bad",
                    " # '",
                    "\n# bad\ngood",
                    ";# x",
                    " #\nbad",
                    "\n#'\ngood\n#'",
                    " # <<'E'\nEX; bad\nE",
                    " \"<<'E'\nE\"; bad\nE",
                )
            )
        while self._rarely(self._mutated):
            text = self._mutate(text)
        return text

    def line_with_variables(self) -> str:
        """What sets variables and what uses them, in any order and nesting."""
        steps = [self._step() for _ in range(self._random.choice((2, 2, 3, 4)))]
        text = steps[0]
        for step in steps[1:]:
            text += self._pick(SEPARATORS[:7] if self._rarely(0.3) else ("; ", "; ", "\n", " && ")) + step
        if self._rarely(0.2):
            form = self._pick(
                (
                    "({0})",
                    "{{ {0}; }}",
                    "for i in 1 2; do {0}; done",
                    "if true; then {0}; fi",
                    "while :; do {0}; break; done",
                    "echo $({0})",
                )
            )
            text = f"{form.format(text)}; {self._step()}"
        while self._rarely(self._mutated):
            text = self._mutate(text)
        return text

    def _step(self) -> str:
        if self._rarely(0.5):
            return self._pick(SETTERS[:FRIENDLY_SETTERS] if self._likely() else SETTERS)
        if self._rarely(0.1):
            return self._command(2)
        return self._pick(USES[:FRIENDLY_USES] if self._likely() else USES)

    def _commands(self, count: int, depth: int) -> str:
        text = self._command(depth)
        for _ in range(count - 1):
            usual = SEPARATORS[:7] if self._likely() else SEPARATORS
            text += self._pick(usual) + self._command(depth)
        return text

    def _command(self, depth: int) -> str:
        if depth < 3 and self._rarely(0.22):
            return self._compound(depth + 1)
        if self._rarely(0.07):
            return self._heredoc(depth)
        return self._simple(depth)

    def _compound(self, depth: int) -> str:
        inner = self._commands(self._random.choice((1, 2)), depth)
        other = self._simple(depth)
        forms = [
            f"({inner})", f"{{ {inner}; }}", f"for i in a b; do {inner}; done", f"if {other}; then {inner}; fi",
            f"if {other}; then {inner}; else {other}; fi", f"until {other}; do {inner}; break; done", f"while ! {other}; do {inner}; break; done",
            f"! {other}", f"{other} &", f"( {inner} )", f"for i in $({other}); do {inner}; done", f"{{\n{inner}\n}}",
            f"[[ -d a ]] || {inner}", f"if [[ -f a ]]; then {inner}; fi", f"{other} && # it's\n{other}", f"{other} | # bad\n{other}",
            f"good -m \"$(cat <<'E'\n{inner}\nE\n)\"",
        ]  # fmt: skip
        if not self._likely():
            forms += [
                f"f() {{ {inner}; }}; f", f"function good {{ {inner}; }}; good", f"case x in x) {inner};; esac", f"good() {{ {inner}; }}",
                f"select i in a; do {inner}; break; done </dev/null", f"[[ -n $({inner}) ]]", f"coproc {{ {inner}; }}", f"time ( {inner} )",
                f"for ((i=0;i<1;i++)); do {inner}; done", f"((x)) && {inner}", f"{{ {inner} }}", f"({inner}", f"{inner})",
                f"a=($({inner}))", f"a[$({inner})]=1", f"case $({inner}) in *) {other};; esac", f"[[ a =~ $({inner}) ]]", f"good() ( {inner} ); good",
                f"{{ {inner}; }} &>>out.txt", f"good <<A <<'B'\n$({inner})\nA\n{inner}\nB", f"good <<'A' <<B\n{inner}\nA\n$({inner})\nB",
                f'good "$(cat <<E\n$({inner})\nE\n)"', f"good <<E\n$(cat <<'F'\n{inner}\nF\n)\nE", f"cat <<'E' | {other}\n{inner}\nE",
                f"f() {{ local -n x=$1; {inner}; }}; f a", f"coproc X {{ {inner}; }}", f"x=$({inner}) good", f"(( $({inner}) ))", f"while read x; do $x; done <<<'{other}'",
            ]  # fmt: skip
        text = self._pick(forms)
        return f"{text} {self._redirect()}" if self._rarely(0.15) else text

    def _heredoc(self, depth: int) -> str:
        program = self._program(depth)
        start, end = self._pick(DELIMITERS)
        body = self._pick(
            (
                "text",
                "bad",
                "; bad",
                "$HOME",
                "'",
                '"',
                "it's",
                "#",
                "E ",
                " E",
                "a\nb",
                "EX\nbad",
                "E; bad",
                "bad \\\nx",
                "\\",
            )
        )
        if not self._likely():
            body = self._pick(
                (
                    f"$({self._simple(depth)})",
                    f"`{self._simple(depth)}`",
                    "${x:-$(bad)}",
                    "\\$(bad)",
                    "$((a[$(bad)]))",
                    "E\nbad\nE",
                    "x\\\nE",
                )
            )
        more = self._pick(
            ("", "", "", f" | {self._simple(depth)}", f" && {self._simple(depth)}", " >/dev/null", " >out.txt", " - x")
        )
        dash = self._pick(("<<", "<<", "<<-", "<< "))
        tail = self._pick(("", "", f"\n{self._simple(depth)}"))
        if self._rarely(0.3):
            again, other = self._pick(DELIMITERS)
            inner = self._pick(("bad", "text\nbad", f"{end}\nbad", f"{other} \nbad", "$(bad)", "'"))
            return f"{program} {dash}{start} {self._pick(('<<', '<<-'))}{again}{more}\n{body}\n{end}\n{inner}\n{other}{tail}"
        return f"{program} {dash}{start}{more}\n{body}\n{end}{tail}"

    def _simple(self, depth: int) -> str:
        parts = []
        if self._rarely(0.12):
            parts.append(self._pick(ASSIGNMENTS[:3] if self._likely() else ASSIGNMENTS))
        if self._rarely(0.15):
            parts.append(self._pick(WRAPPERS[:12] if self._likely() else WRAPPERS))
        parts.append(self._program(depth))
        while self._rarely(0.35):
            parts.append(self._word(depth))
        while self._rarely(0.15):
            parts.insert(self._random.randrange(len(parts) + 1) if self._rarely(0.2) else len(parts), self._redirect())
        # Without a blank before it, an escaped line end glues words together: `fine run\\<line end>x` is `fine runx`.
        glue = "\\\n" if self._rarely(0.06) else self._pick((" ", " ", " ", " ", "  ", "\t", " \\\n "))
        return glue.join(parts)

    def _program(self, depth: int) -> str:
        if self._likely():
            return self._pick(GOOD if self._rarely(0.75) else READERS)
        program = self._pick((self._pick(BAD), self._pick(TRICKS), self._pick(GOOD)))
        return self._spelled(program) if self._rarely(0.4) else program

    def _spelled(self, program: str) -> str:
        name, blank, rest = program.partition(" ")
        cut = self._random.randrange(1, len(name) + 1) if len(name) > 1 else 1
        return self._pick(SPELLINGS).format(name, name[:cut], name[cut:]) + blank + rest

    def _word(self, depth: int) -> str:
        if depth < 3 and self._rarely(0.2):
            form = self._pick(LIVE_WORDS[:3] if self._likely() else LIVE_WORDS)
            return form.format(self._simple(depth + 1) if self._rarely(0.7) else self._commands(2, depth + 1))
        return self._pick(WORDS)

    def _redirect(self) -> str:
        return self._pick(REDIRECTS[:SAFE_REDIRECTS] if self._likely() else REDIRECTS)

    def _mutate(self, text: str) -> str:
        """One character more, less or other: where parsers part ways."""
        at = self._random.randrange(len(text) + 1)
        match self._random.randrange(4):
            case 0:
                return text[:at] + text[at + 1 :]
            case 1:
                return text[:at] + self._pick(NOISE) + text[at + 1 :]
            case 2:
                other = self._random.randrange(len(text) + 1)
                return text[:at] + text[min(at, other) : max(at, other)][:12] + text[at:]
            case _:
                return text[:at] + self._pick(NOISE) + text[at:]

    def _pick(self, choices):
        return choices[self._random.randrange(len(choices))]

    def _rarely(self, share: float) -> bool:
        return self._random.random() < share

    def _likely(self) -> bool:
        return self._random.random() < self._friendly
