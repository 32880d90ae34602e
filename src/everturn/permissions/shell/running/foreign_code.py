"""Code of other languages: what it starts, as a script for a shell. For deny rules alone.

What is not written as plain text there becomes `$_` in the script: a name that nobody knows is asked about, and so is what a rule may
cover. Who wants to hide a name from this reader can: a language has more ways to put a text together than any list.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from shlex import quote

from everturn.core.patterns import compile_late

OPEN = "$_"
"""In a script: what is not known before it runs."""
_VERSION = compile_late(r"[\d.]+$")
_PYTHON, _NODE, _PERL, _RUBY = "python", "node", "perl", "ruby"
_KINDS = {
    "deno": _NODE,
    "bun": _NODE,
    "nodejs": _NODE,
    "expect": "tclsh",
    "wish": "tclsh",
    "luajit": "lua",
    "texlua": "lua",
}
_BY_CALL = frozenset({_PYTHON, _NODE, "php", "lua"})
"""There, what is called has parentheses."""
_TICKS = frozenset({_PERL, _RUBY, "php"})
"""There, backticks run what they hold."""
_STARTERS = (
    r"system|popen\d?e?|Popen|exec[lv]p?e?|execSync|execFile(?:Sync)?|spawn\w*+|posix_spawnp?|shell_exec|passthru|proc_open|pcntl_exec"
    r"|check_call|check_output|getoutput|getstatusoutput|create_subprocess_\w++|readpipe|Command(?=\()|capture2e?|capture3|do_shell_script|do shell script"
)
_CALLS = compile_late(
    rf"(?<![\w$@%>-])(?:(?P<sure>{_STARTERS})|(?P<perhaps>run|call|exec|fork|execute))\b(?P<opened>[ \t\n]{{0,9}}\([ \t\n]{{0,9}}|[ \t]{{0,9}})"
)
_ALWAYS_EXEC = frozenset({_PERL, _RUBY, "php", "lua"})
"""There, `exec` and `execute` start a program; elsewhere they may be anything."""
_MODULES = compile_late(r"subprocess|child_process")
_ARGUMENT = compile_late(r"[\"'`$@&%\\<\[{\w-]")
"""What may stand behind a name that is called without parentheses."""
_NAMED = compile_late(r"(?:args|command|cmd|file)[ \t]{0,9}=[ \t\n]{0,9}")
_LITERAL = compile_late(
    r"(?P<prefix>[bruBRUfF]{0,2})(?:(?P<three>\"\"\"|''')(?P<long>.{0,2000}?)(?P=three)|(?P<quote>[\"'`])(?P<text>(?:[^\"'`\\]|\\.|(?!(?P=quote))[\"'`]){0,2000}+)(?P=quote))"
    r"|(?:qq?|%[qQ])[ \t]?[({\[</|!](?P<q>[^)}\]>/|!]{0,2000}+)[)}\]>/|!]",
    re.DOTALL,
)
_WORDS = compile_late(r"(?:qw|%[wW])[ \t]?[({\[</|!](?P<words>[^)}\]>/|!]{0,2000}+)[)}\]>/|!]")
_ENDS = compile_late(
    r"[ \t\n]{0,9}(?:[,)\]};\n|&]|=>|\Z|\.(?!format|join|replace|concat|split)\w|\b(?:if|or|and|unless|do)\b)"
)
_BLOCK = compile_late(r"\{[ \t]{0,9}[\"'](?P<name>[^\"'{}]{1,200})[\"'][ \t]{0,9}\}")
"""Of perl: the file that is started, before the words that it is told."""
_MADE = compile_late(r"[ \t\n]{0,9}\][ \t\n]{0,9}[.[+]")
"""A list that something else is made of: `["r", "m"].join("")`."""
_JOINED = compile_late(r"[ \t\n]{0,9},[ \t\n]{0,9}")
_KEYWORD = compile_late(r"\w{1,40}[ \t]{0,3}(?:=(?!=)|:)")
_INTERPRETER = compile_late(r"sys\.executable|process\.execPath|\$\^X|RbConfig\.ruby")
_ODD = compile_late(r"\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u\{?[0-9a-fA-F]{1,6}\}?|N\{[^}]{0,60}\}|c.)")
_FILLED = compile_late(r"%[-0-9.]{0,4}[a-z]|\{[^{}]{0,80}\}")
_INTERPOLATED = compile_late(r"#\{[^{}]{0,80}\}|@\{[^{}]{0,80}\}")
_PIPED = compile_late(
    r"\bopen\b[^;\n\"']{0,80}[\"'](?:\|[ \t]{0,9}(?P<to>[^\"'|]{1,500}+)|(?P<from>[^\"'|]{1,500}+)\|[ \t]{0,9})[\"']"
)
_OPENED = compile_late(r"\bopen\b[^;\n\"']{0,80}[\"'](?:-\||\|-)[\"'][ \t]{0,9},?[ \t]{0,9}")
_SHELLED = compile_late(r"`(?P<ticks>[^`]{1,2000}+)`|(?:\bqx|%x)[ \t]?[^\w\s](?P<qx>[^)}\]/|!>]{1,2000}+)")
_TAGGED = compile_late(r"\$`(?P<run>[^`]{1,2000}+)`")
_OF_TCL = compile_late(
    r"\b(?:exec|spawn)[ \t]+(?:-\w+[ \t]+){0,4}(?P<run>[^\n;\]]{1,500}+)|\bopen[ \t]+[\"{]?\|[ \t]{0,9}(?P<piped>[^\n\]\"}]{1,500}+)"
)
_QUOTED_STARTER = rf"[\"'](?:{_STARTERS})[\"']"
_HIDDEN = {
    _PYTHON: compile_late(
        rf"\.(?:system|popen|exec[lv]\w*+|spawn\w++|posix_spawn\w*+|check_output|check_call|getoutput|getstatusoutput)\b(?![ \t]{{0,9}}\()"
        rf"|\b(?:system|popen|run|call|Popen|check_output|check_call|getoutput|getstatusoutput|exec[lv]\w*+|spawn\w++)[ \t]+as[ \t]+\w"
        rf"|(?<![.\w])(?:eval|exec)[ \t]{{0,9}}\(|{_QUOTED_STARTER}|\bgetattr[ \t]{{0,9}}\((?!(?:[^,()]|\([^,()]{{0,80}}\)){{0,200}}+,[ \t]{{0,9}}[\"']\w++[\"'][ \t]{{0,9}}[,)])"
        r"|\b(?:vars|globals|locals)[ \t]{0,9}\(|__dict__|__builtins__|__getattribute__"
    ),
    _NODE: compile_late(
        rf"(?<![.\w])(?:eval|Function)[ \t]{{0,9}}\(|process\.binding|createRequire|\b(?:require|import)[ \t]{{0,9}}\([ \t]{{0,9}}(?![ \t\"']|\))|[\"']child_[\"']|[\"']_?process[\"'][ \t]{{0,9}}\)(?<!child_process.\))"
        rf"|\b(?:exec\w*+|spawn\w*+|fork)[ \t]{{0,9}}(?::|[ \t]as\b)|{_QUOTED_STARTER}|\b(?:require|import)[ \t]{{0,9}}\([ \t]{{0,9}}[\"'][^\"']{{0,80}}+[\"'][ \t]{{0,9}}\+"
    ),
    _PERL: compile_late(rf"\beval\b[ \t]{{0,9}}(?!\{{)|\bdo[ \t]+[\"'$]|&\$|&\{{|\bsyscall\b|{_QUOTED_STARTER}"),
    _RUBY: compile_late(rf"\b(?:send|public_send|__send__|method|instance_eval|class_eval|eval|const_get)\b|:(?:system|exec|spawn)\b|{_QUOTED_STARTER}"),
    "php": compile_late(rf"\$\w++[ \t]{{0,9}}\(|\bcall_user_func\w*+|\beval\b|{_QUOTED_STARTER}"),
    "lua": compile_late(rf"\bload(?:string|file)?\b|\bdofile\b|[\"']execute[\"']|{_QUOTED_STARTER}"),
    "tclsh": compile_late(r"\b(?:eval|uplevel|subst|interp|namespace)\b|\{\*\}"),
}  # fmt: skip
"""Where something is called whose name is put together, or handed on under another one."""
_BRACKETED_CALL = compile_late(r"\][ \t]{0,9}\(")
_MAX_CALLS = 16
_MAX_WORDS = 8


@lru_cache(maxsize=64)
def find_shell_calls(code: str, interpreter: str) -> tuple[str, ...]:
    """What code hands to a shell, or starts: `os.system("rm x")`, `subprocess.run(["rm", "x"])`, backticks."""
    found = list(islice(_list_calls(code, _find_kind(interpreter)), _MAX_CALLS + 1))
    scripts = dict.fromkeys(each for each in found if each.strip())
    return (*scripts, OPEN) if len(found) > _MAX_CALLS else tuple(scripts)


def _find_kind(interpreter: str) -> str:
    name = _VERSION.sub("", interpreter)
    return _KINDS.get(name, name)


def _list_calls(code: str, kind: str) -> Iterator[str]:
    if kind == "tclsh":
        yield from (found["run"] or found["piped"] for found in _OF_TCL.finditer(code))
    else:
        yield from _list_starts(code, kind)
    if kind in _TICKS:
        yield from (found["ticks"] or found["qx"] for found in _SHELLED.finditer(code))
    if kind == _NODE:
        yield from (found["run"] for found in _TAGGED.finditer(code))
    if kind in {_PERL, _RUBY}:
        yield from (found["to"] or found["from"] for found in _PIPED.finditer(code))
        yield from (_read_words(code, found.end()) or OPEN for found in _OPENED.finditer(code))
    if (hidden := _HIDDEN.get(kind)) is not None and hidden.search(code):
        yield OPEN
    if kind == _NODE and "child_process" in code and (_BRACKETED_CALL.search(code) or not _CALLS.search(code)):
        yield OPEN


def _list_starts(code: str, kind: str) -> Iterator[str]:
    is_loaded = _MODULES.search(code) is not None
    for call in _CALLS.finditer(code):
        is_called = "(" in call["opened"]
        at = call.end()
        if not is_called and (kind in _BY_CALL or not _ARGUMENT.match(code, at)):
            continue
        if is_called and code.startswith(")", at):
            # `platform.system()`.
            continue
        said = _read_words(code, at)
        if said:
            yield from said if isinstance(said, tuple) else (said,)
        elif call["sure"] or is_loaded or (call["perhaps"] in {"exec", "execute"} and kind in _ALWAYS_EXEC):
            yield OPEN


def _read_words(code: str, at: int) -> str:
    """The words of what is started, from its first argument on; empty where that is no text."""
    if named := _NAMED.match(code, at):
        at = named.end()
    if found := _WORDS.match(code, at):
        return found["words"]
    if found := _BLOCK.match(code, at):
        return f"{found['name']} {OPEN}"
    in_list = code.startswith(("[", "{", "("), at)
    at += in_list
    words: list[str] = []
    for _ in range(_MAX_WORDS):
        at += len(code[at : at + 9]) - len(code[at : at + 9].lstrip(" \t\n[("))
        text, at, is_whole = _read_text(code, at)
        if text is None:
            words.append(OPEN)
            break
        words.append(text)
        joined = _JOINED.match(code, at)
        if not is_whole or joined is None or _KEYWORD.match(code, joined.end()):
            break
        at = joined.end()
    if words[0] == OPEN or (in_list and _MADE.match(code, at)):
        return ""
    if len(words) == 1 and not in_list:
        return words[0]
    return " ".join(word if OPEN in word else quote(word) for word in _drop_repeated(words))


def _drop_repeated(words: list[str]) -> list[str]:
    """`execvp("rm", ["rm", "x"])`: the name of the file, and the one that the program is told."""
    return words[1:] if len(words) > 1 and words[0].rpartition("/")[2] == words[1].rpartition("/")[2] else words


def _read_text(code: str, at: int) -> tuple[str | None, int, bool]:
    """A text that is written there, where it ends, and whether that is all of it."""
    if found := _INTERPRETER.match(code, at):
        return "interpreter", found.end(), True
    found = _LITERAL.match(code, at)
    if found is None:
        return None, at, False
    text = next(each for each in (found["long"], found["text"], found["q"]) if each is not None)
    end = found.end()
    if _ENDS.match(code, end) is None and not code.startswith(("{", "}"), end):
        # Something is put behind it, or into it.
        return f"{_FILLED.sub(OPEN, text)}{OPEN}", end, False
    if "f" in (found["prefix"] or "").lower():
        text = _FILLED.sub(OPEN, text)
    return _INTERPOLATED.sub(OPEN, _ODD.sub(OPEN, text)), end, True
