r"""Languages as tables: which pieces of a line are strings, comments, words that mean something. Read by `highlight.py`.

Repetitions are possessive (`*+`, `++`): what they took they never give back, so that a hostile line takes no longer than another of its
length. What has no certain end is bounded.
"""

from typing import NamedTuple

import msgspec

from everturn.frontends.terminal.palette import CodeKind


class CodeRule(NamedTuple):
    pattern: str
    """Without groups that capture."""
    kind: CodeKind | None
    then: str = ""
    """The span that begins here, or `mode NAME`."""


class CodeSpan(NamedTuple):
    """What goes on up to its end, over lines if it may: a string, a comment."""

    close: str
    stops: str
    """Characters with which the end or an escape can begin, as in a class of a regular expression."""
    kind: CodeKind
    lines: bool = True
    escape: str = r"\\.?"


class Grammar(msgspec.Struct, frozen=True):
    starts: str
    """Characters with which a rule can match, as in a class; others are passed over at once."""
    rules: tuple[CodeRule, ...]
    spans: dict[str, CodeSpan] = {}
    words: dict[str, CodeKind] = {}
    defining: frozenset[str] = frozenset()
    """Words before a name."""
    modes: dict[str, tuple[str, tuple[CodeRule, ...]]] = {}
    """Other starts and rules, begun by `mode NAME` and ended by `mode `."""
    ignores_case: bool = False
    has_heredocs: bool = False


_KEYWORD, _BUILT_IN, _NAME, _KEY = CodeKind.KEYWORD, CodeKind.BUILT_IN, CodeKind.NAME, CodeKind.KEY
_STRING, _NUMBER, _COMMENT, _WORD = CodeKind.STRING, CodeKind.NUMBER, CodeKind.COMMENT, CodeKind.WORD
_NUMBERS = CodeRule(
    r"(?:0[xXbBoO][\da-fA-F_]++|\d[\d_]*+(?:\.\d[\d_]*+)?+(?:[eE][+-]?+\d++)?+)(?:[a-zA-Z]\w*+)?+", _NUMBER
)
_WORDS = CodeRule(r"[^\W\d]\w*+", _WORD)
_DOUBLE = CodeSpan('"', r'"\\', _STRING, lines=False)
_SINGLE = CodeSpan("'", r"'\\", _STRING, lines=False)
_BLOCK = CodeSpan(r"\*/", "*", _COMMENT, escape="(?!)")
_SLASHES = (CodeRule("//.*+", _COMMENT), CodeRule(r"/\*", _COMMENT, "block"))
_QUOTES = (CodeRule('"', _STRING, "double"), CodeRule("'", _STRING, "single"))
_HASH = CodeRule("#.*+", _COMMENT)
_CHARACTER = CodeRule(r"'(?:[^'\\]|\\[^']{1,10}+|\\')'", _STRING)
_C_SPANS = {"block": _BLOCK, "double": _DOUBLE, "single": _SINGLE}


def _list(kind: CodeKind, words: str) -> dict[str, CodeKind]:
    return dict.fromkeys(words.split(), kind)


def _c_like(keywords: str, built_in: str, *, defining: str = "", more: tuple[CodeRule, ...] = (), starts: str = "", spans: dict[str, CodeSpan] | None = None) -> Grammar:  # fmt: skip
    return Grammar(
        starts=rf"\w\"'/{starts}",
        rules=(*more, *_SLASHES, *_QUOTES, _NUMBERS, _WORDS),
        spans=_C_SPANS | (spans or {}),
        words=_list(_KEYWORD, keywords) | _list(_BUILT_IN, built_in),
        defining=frozenset(defining.split()),
    )


_PYTHON = Grammar(
    starts=r"\w\"'#@",
    rules=(
        _HASH,
        CodeRule('(?:[rRbBfFuUtT]{1,2}+)?"""', _STRING, "long double"),
        CodeRule("(?:[rRbBfFuUtT]{1,2}+)?'''", _STRING, "long single"),
        CodeRule('(?:[rRbBfFuUtT]{1,2}+)?"', _STRING, "double"),
        CodeRule("(?:[rRbBfFuUtT]{1,2}+)?'", _STRING, "single"),
        CodeRule(r"@[^\W\d][\w.]*+", _BUILT_IN),
        _NUMBERS,
        _WORDS,
    ),
    spans={
        "long double": CodeSpan('"""', r'"\\', _STRING),
        "long single": CodeSpan("'''", r"'\\", _STRING),
        "double": _DOUBLE,
        "single": _SINGLE,
    },
    words=_list(
        _KEYWORD,
        "False None True and as assert async await break case class continue def del elif else except finally for from global if import "
        "in is lambda match nonlocal not or pass raise return try type while with yield",
    )
    | _list(
        _BUILT_IN,
        "self cls print len range str int float bool bytes list dict set tuple object type super isinstance open enumerate zip map filter "
        "sorted reversed sum min max any all abs round repr getattr setattr hasattr property staticmethod classmethod Exception "
        "ValueError TypeError KeyError IndexError RuntimeError OSError StopIteration",
    ),
    defining=frozenset({"def", "class"}),
)
_JAVASCRIPT = _c_like(
    "abstract any as async await break case catch class const continue debugger declare default delete do else enum export extends "
    "false finally for from function get if implements import in infer instanceof interface is keyof let namespace new null of private "
    "protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with "
    "yield",
    "string number boolean unknown never object symbol bigint Array Boolean Date Error JSON Map Math Number Object Promise Record RegExp "
    "Set String console document globalThis module process require window",
    defining="function class interface enum type namespace",
    more=(
        CodeRule(
            r"(?:(?<=[=(,:\[!&|?{};])|(?<=[=(,:\[!&|?{};] )|(?<=return ))"
            r"/(?![/*\s])(?:[^/\\\[]|\\.|\[[^\]]{0,80}+\])++/[a-z]*+",
            _STRING,
        ),
        CodeRule("`", _STRING, "template"),
        CodeRule(r"@[^\W\d][\w.]*+", _BUILT_IN),
    ),
    starts="`@$",
    spans={"template": CodeSpan("`", r"`\\", _STRING)},
)
_GO = _c_like(
    "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range "
    "return select struct switch true type var",
    "any append bool byte cap clear close complex64 complex128 copy delete error float32 float64 int int8 int16 int32 int64 len make max "
    "min new panic print println recover rune string uint uint8 uint16 uint32 uint64 uintptr",
    defining="func type package",
    more=(CodeRule("`", _STRING, "raw"), _CHARACTER),
    starts="`",
    spans={"raw": CodeSpan("`", "`", _STRING, escape="(?!)")},
)
_RUST = Grammar(
    starts=r"\w\"'/#",
    rules=(
        *_SLASHES,
        CodeRule('b?r"', _STRING, "raw"),
        CodeRule('b?r#"', _STRING, "raw 1"),
        CodeRule('b?r##"', _STRING, "raw 2"),
        CodeRule('[bc]?"', _STRING, "double"),
        CodeRule(rf"b?{_CHARACTER.pattern}", _STRING),
        CodeRule(r"'[^\W\d]\w*+", _BUILT_IN),
        CodeRule(r"#!?\[[^\]]{0,200}+\]", _BUILT_IN),
        CodeRule(r"[^\W\d]\w*+!(?=[(\[{ ])", _BUILT_IN),
        _NUMBERS,
        _WORDS,
    ),
    spans={
        "block": _BLOCK,
        "double": CodeSpan('"', r'"\\', _STRING),
        "raw": CodeSpan('"', '"', _STRING, escape="(?!)"),
        "raw 1": CodeSpan('"#', '"', _STRING, escape="(?!)"),
        "raw 2": CodeSpan('"##', '"', _STRING, escape="(?!)"),
    },
    words=_list(
        _KEYWORD,
        "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return "
        "self Self static struct super trait true type union unsafe use where while yield",
    )
    | _list(
        _BUILT_IN,
        "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Box Err None Ok Option Rc Arc Result Some String Vec",
    ),
    defining=frozenset({"fn", "struct", "enum", "trait", "mod", "type"}),
)
_C = _c_like(
    "alignas alignof auto break case catch class co_await co_return co_yield concept const const_cast consteval constexpr constinit "
    "continue decltype default delete do dynamic_cast else enum explicit export extern false final for friend goto if inline mutable "
    "namespace new noexcept nullptr operator override private protected public register reinterpret_cast requires restrict return sizeof "
    "static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union using virtual "
    "volatile while NULL",
    "bool char double float int long short signed unsigned void wchar_t size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t "
    "uint16_t uint32_t uint64_t FILE std string vector map",
    defining="class struct enum namespace union",
    more=(CodeRule(r"#[ \t]*+[a-z]++", _BUILT_IN), _CHARACTER),
    starts="#",
)
_JAVA = _c_like(
    "abstract assert break case catch class const continue default do else enum extends false final finally for goto if implements import "
    "instanceof interface native new null package permits private protected public record return sealed static strictfp super switch "
    "synchronized this throw throws transient true try var volatile while yield",
    "boolean byte char double float int long short void Boolean Double Exception Integer List Long Map Object Override Set String System",
    defining="class interface enum record",
    more=(CodeRule('"""', _STRING, "text"), CodeRule(r"@[^\W\d][\w.]*+", _BUILT_IN), _CHARACTER),
    starts="@",
    spans={"text": CodeSpan('"""', r'"\\', _STRING)},
)
_JSON = Grammar(
    starts=r"\w\"/-",
    rules=(
        CodeRule(r'"(?:[^"\\]|\\.)*+"(?=[ \t]*+:)', _KEY),
        CodeRule('"', _STRING, "double"),
        *_SLASHES,
        CodeRule(r"-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+", _NUMBER),
        _WORDS,
    ),
    spans={"block": _BLOCK, "double": _DOUBLE},
    words=_list(_KEYWORD, "true false null"),
)
_BASH = Grammar(
    starts=r"\w\"'#$|;&(`{!./~-",
    rules=(
        CodeRule(r"(?:(?<![^\s;&|()]))#.*+", _COMMENT),
        CodeRule(r"\$'", _STRING, "escaped"),
        CodeRule(r'\$?"', _STRING, "double"),
        CodeRule("'", _STRING, "single"),
        CodeRule(r"\$(?:\w++|\{[^}]{0,200}+\}|[@*#?$!-])", _BUILT_IN),
        CodeRule(r"(?<![\w./~-])--?[a-zA-Z][\w-]*+", _NUMBER),
        CodeRule(r"\w++(?:[./~+:%,@-]++\w++)*+(?==)", _KEY),
        CodeRule(r"[\w./~]++(?:[+:%,@-]++[\w./~]++)*+", _WORD),
    ),
    spans={
        "escaped": _SINGLE._replace(lines=True),
        "double": _DOUBLE._replace(lines=True),
        "single": CodeSpan("'", "'", _STRING, escape="(?!)"),
    },
    words=_list(
        _KEYWORD,
        "if then else elif fi for while until do done case esac in function select time coproc return exit break continue local export "
        "readonly declare typeset unset shift trap eval exec source set",
    ),
    has_heredocs=True,
)
_HTML = Grammar(
    starts="<&",
    rules=(
        CodeRule("<!--", _COMMENT, "comment"),
        CodeRule(r"</?[\w:.-]++", _NAME, "mode tag"),
        CodeRule(r"<[!?][\w:-]++", _KEYWORD, "mode tag"),
        CodeRule(r"&#?\w{1,32}+;", _NUMBER),
    ),
    spans={
        "comment": CodeSpan("-->", "-", _COMMENT, escape="(?!)"),
        "double": CodeSpan('"', '"', _STRING, escape="(?!)"),
        "single": CodeSpan("'", "'", _STRING, escape="(?!)"),
    },
    modes={
        "tag": (
            r"\w\"'>/?@:",
            (CodeRule("[/?]?>", _NAME, "mode "), *_QUOTES, CodeRule(r"[@:]?+[^\W\d][\w:.@-]*+", _KEY)),
        ),
    },
)
_CSS = Grammar(
    starts=r"\w\"'/#.@$-",
    rules=(
        CodeRule(r"/\*", _COMMENT, "block"),
        CodeRule("(?<!:)//.*+", _COMMENT),
        *_QUOTES,
        CodeRule(r"@[\w-]++", _KEYWORD),
        CodeRule(r"[$-]?-?[^\W\d][\w-]*+(?=[ \t]*+:[ \t]|:$)", _KEY),
        CodeRule(r"#[\da-fA-F]{3,8}+\b", _NUMBER),
        CodeRule(r"-?\d++(?:\.\d++)?+(?:%|[a-z]++)?+", _NUMBER),
        CodeRule(r"[.#][^\W\d][\w-]*+", _NAME),
        CodeRule(r"--?[\w-]++", None),
        _WORDS,
    ),
    spans=_C_SPANS,
)
_YAML = Grammar(
    starts=r"\w\"'#&*!%-",
    rules=(
        CodeRule(r"(?<!\S)#.*+", _COMMENT),
        CodeRule("(?:---|\\.\\.\\.)(?!\\S)", _KEYWORD),
        CodeRule(r'"(?:[^"\\]|\\.)*+"(?=[ \t]*+:(?!\S))', _KEY),
        CodeRule(r"[^\W\d][\w./-]*+(?: [\w./-]++){0,8}+(?=[ \t]*+:(?!\S))", _KEY),
        CodeRule(r"(?<![^\s\[{,:(-])\"", _STRING, "double"),
        CodeRule(r"(?<![^\s\[{,:(-])'", _STRING, "single"),
        CodeRule(r"(?<!\S)[&*!][\w!/-]++", _BUILT_IN),
        CodeRule(r"-?\d++(?:\.\d++)?+(?![\w.-])", _NUMBER),
        CodeRule(r"\w[\w./-]*+", _WORD),
    ),
    spans={"double": _DOUBLE, "single": CodeSpan("'", "'", _STRING, lines=False, escape="(?!)")},
    words=_list(_KEYWORD, "true false null yes no on off True False Null Yes No On Off TRUE FALSE NULL"),
)
_TOML = Grammar(
    starts=r"\w\"'#\[-",
    rules=(
        _HASH,
        CodeRule(r"(?<![^\s])\[\[?[^\[\]\"'=,]{1,200}+\]\]?(?=\s*+(?:#|$))", _NAME),
        CodeRule('"""', _STRING, "long double"),
        CodeRule("'''", _STRING, "long single"),
        CodeRule(r"(?<![\w.-])[\w.-]++(?=[ \t]*+=)", _KEY),
        CodeRule(r'"(?:[^"\\]|\\.)*+"(?=[ \t]*+=)', _KEY),
        *_QUOTES,
        CodeRule(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]++)?+(?:Z|[+-]\d\d:\d\d)?+", _NUMBER),
        _NUMBERS,
        _WORDS,
    ),
    spans={
        "long double": CodeSpan('"""', r'"\\', _STRING),
        "long single": CodeSpan("'''", "'", _STRING, escape="(?!)"),
        "double": _DOUBLE,
        "single": CodeSpan("'", "'", _STRING, lines=False, escape="(?!)"),
    },
    words=_list(_KEYWORD, "true false inf nan"),
)
_SQL = Grammar(
    starts=r"\w\"'/`-",
    rules=(
        CodeRule("--.*+", _COMMENT),
        CodeRule(r"/\*", _COMMENT, "block"),
        CodeRule("'", _STRING, "single"),
        CodeRule('"[^"]{0,200}+"', _KEY),
        CodeRule("`[^`]{0,200}+`", _KEY),
        _NUMBERS,
        _WORDS,
    ),
    spans={"block": _BLOCK, "single": CodeSpan("'", "'", _STRING, escape="(?!)")},
    words=_list(
        _KEYWORD,
        "add all alter analyze and any as asc begin between by cascade case check column commit constraint create cross database default "
        "delete desc distinct drop else end except exists explain false foreign from full function grant group having if ilike in index "
        "inner insert intersect into is join key left like limit not null offset on or order outer over partition primary procedure "
        "recursive references replace returning revoke right rollback select set some table temporary then to transaction trigger true "
        "truncate union unique update using values view when where window with",
    )
    | _list(
        _BUILT_IN,
        "avg bigint boolean char coalesce count date decimal double float integer int interval json jsonb max min now numeric real serial "
        "smallint sum text time timestamp uuid varchar",
    ),
    ignores_case=True,
)
_DIFF = Grammar(
    starts=r"\S",
    rules=(
        CodeRule(r"^(?:diff|index|new|deleted|old|rename|similarity|copy|Binary)\b.*+", CodeKind.HEADING),
        CodeRule(r"^(?:---|\+\+\+)(?: .*+|$)", CodeKind.HEADING),
        CodeRule("^@@.*+", _BUILT_IN),
        CodeRule(r"^[+>].*+", CodeKind.ADDED),
        CodeRule("^[<-].*+", CodeKind.REMOVED),
        CodeRule(".*+", None),
    ),
)
_MARKDOWN = Grammar(
    starts=r"\S",
    rules=(
        CodeRule(r"^#{1,6}(?: .*+|$)", CodeKind.HEADING),
        CodeRule(r"^(?:```|~~~).*+", _COMMENT, "mode fence"),
        CodeRule(r"^>.*+", _COMMENT),
        CodeRule(r"(?<!\S)(?:[-*+]|\d{1,9}+[.)])(?= )", _KEYWORD),
        CodeRule("`[^`]{1,300}+`", _STRING),
        CodeRule(r"\*\*[^*]{1,300}+\*\*", _NAME),
        CodeRule(r"!?\[[^\[\]]{1,300}+\]\([^()\s]{1,500}+\)", _KEY),
        CodeRule(r"\w++", None),
    ),
    modes={"fence": (r"\S", (CodeRule("^(?:```|~~~)\\s*+$", _COMMENT, "mode "), CodeRule(".++", _STRING)))},
)

GRAMMARS = {
    "python": _PYTHON, "javascript": _JAVASCRIPT, "json": _JSON, "bash": _BASH, "go": _GO, "rust": _RUST, "c": _C, "java": _JAVA,
    "html": _HTML, "css": _CSS, "yaml": _YAML, "toml": _TOML, "sql": _SQL, "diff": _DIFF, "markdown": _MARKDOWN,
}  # fmt: skip
ALIASES = {
    "python": "py pyi python3 py3 ipython pycon", "javascript": "js jsx ts tsx mjs cjs mts cts typescript node",
    "json": "jsonc json5 jsonl ndjson", "bash": "sh shell zsh ksh shellscript console", "go": "golang", "rust": "rs",
    "c": "h cpp c++ cc cxx hpp hh hxx objc m cuda", "java": "kotlin kt scala groovy", "html": "htm xml svg xhtml vue svelte xsl plist",
    "css": "scss sass less", "yaml": "yml", "toml": "ini cfg conf", "sql": "psql mysql sqlite postgresql", "diff": "patch",
    "markdown": "md mdx",
}  # fmt: skip
"""Other names, as they stand behind a fence or at the end of a file's name. Kin that are read well enough by the same table, too."""
