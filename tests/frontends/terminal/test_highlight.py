"""Code in colours: what is a string, a comment, a keyword; nothing of the text is lost, and no line takes long."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured

import everturn
from everturn.frontends.markdown import Piece
from everturn.frontends.terminal.highlight import MAX_LINE, Highlighter, find_language, highlight, split_code
from everturn.frontends.terminal.languages import ALIASES, GRAMMARS
from everturn.frontends.terminal.palette import CodeKind

K, B, N, Y = CodeKind.KEYWORD, CodeKind.BUILT_IN, CodeKind.NAME, CodeKind.KEY
S, D, C = CodeKind.STRING, CodeKind.NUMBER, CodeKind.COMMENT
H, ADDED, REMOVED = CodeKind.HEADING, CodeKind.ADDED, CodeKind.REMOVED
CASES = [
    ("python", "def foo(a=0x1F): # c", [[("def", K), ("foo", N), ("0x1F", D), ("# c", C)]]),
    ("python", "@app.get\nclass A: return None", [[("@app.get", B)], [("class", K), ("A", N), ("return", K), ("None", K)]]),
    ("python", "x = '''a\n# b\nc''' + f\"{d}\"", [[("'''a", S)], [("# b", S)], [("c'''", S), ('f"{d}"', S)]]),
    ("python", "a = 'open\nb = 1", [[("'open", S)], [("1", D)]]),
    ("python", "a = 'on\\\nb' + 1", [[("'on\\", S)], [("b'", S), ("1", D)]]),
    ("python", r"r'\' + '\'' + 1", [[(r"r'\' + '", S), ("''", S), ("1", D)]]),
    ("ts", "const a = `x ${y}\nz`; /* c\nd */ let b", [[("const", K), ("`x ${y}", S)], [("z`", S), ("/* c", C)], [("d */", C), ("let", K)]]),
    ("js", 'a = /[/"]b/g // c', [[('/[/"]b/g', S), ("// c", C)]]),
    ("js", "a / b / c", [[]]),
    ("json", '{"a": [1.5e-3, "b", null]}', [[('"a"', Y), ("1.5e-3", D), ('"b"', S), ("null", K)]]),
    ("bash", "FOO=1 make -j2 && git log | grep -v 'x' # c", [[("FOO", Y), ("make", N), ("-j2", D), ("git", N), ("grep", N), ("-v", D), ("'x'", S), ("# c", C)]]),
    ("bash", 'echo a#b "$x" $y ${z:-1}', [[("echo", N), ('"$x"', S), ("$y", B), ("${z:-1}", B)]]),
    ("bash", "cat <<'EOF' > f\nit's\nEOF\nrm -rf x", [[("cat", N), ("'EOF'", S)], [("it's", S)], [("EOF", S)], [("rm", N), ("-rf", D)]]),
    ("bash", "if [ -f a ]; then make; fi", [[("if", K), ("-f", D), ("then", K), ("make", N), ("fi", K)]]),
    ("bash", "echo 'a\nb' c", [[("echo", N), ("'a", S)], [("b'", S)]]),
    ("go", "func main() { x := `a\nb` }", [[("func", K), ("main", N), ("`a", S)], [("b`", S)]]),
    ("rust", "fn f<'a>(c: char) { 'x'; r#\"\"\"#; println!(1u8) }", [[("fn", K), ("f", N), ("'a", B), ("char", B), ("'x'", S), ('r#"""#', S), ("println!", B), ("1u8", D)]]),
    ("c++", "#include <a>\nint x = 'a'; // c", [[("#include", B)], [("int", B), ("'a'", S), ("// c", C)]]),
    ("java", 'class A { String s = """\nx"""; }', [[("class", K), ("A", N), ("String", B), ('"""', S)], [('x"""', S)]]),
    ("html", "<a href='x'>don't &amp; <!-- c\nc --></a>", [[("<a", N), ("href", Y), ("'x'", S), (">", N), ("&amp;", D), ("<!-- c", C)], [("c -->", C), ("</a", N), (">", N)]]),
    ("css", ".a { color: #fff; margin: 1.5em } /* c */", [[(".a", N), ("color", Y), ("#fff", D), ("margin", Y), ("1.5em", D), ("/* c */", C)]]),
    ("yaml", "- name: it's # c\n  on: true\n  n: 12", [[("name", Y), ("# c", C)], [("on", Y), ("true", K)], [("n", Y), ("12", D)]]),
    ("toml", '[a.b]\nk = "v" # c\nd = 2024-01-01', [[("[a.b]", N)], [("k", Y), ('"v"', S), ("# c", C)], [("d", Y), ("2024-01-01", D)]]),
    ("sql", 'SELECT count(a) FROM "t" -- c', [[("SELECT", K), ("count", B), ("FROM", K), ('"t"', Y), ("-- c", C)]]),
    ("diff", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z", [[("--- a", H)], [("+++ b", H)], [("@@ -1 +1 @@", B)], [("-x", REMOVED)], [("+y", ADDED)], []]),
    ("markdown", "# A\n- `x` **b**\n```py\n# code\n```\n# B", [[("# A", H)], [("-", K), ("`x`", S), ("**b**", N)], [("```py", C)], [("# code", S)], [("```", C)], [("# B", H)]]),
]  # fmt: skip


def lex(text, language):
    state, lines = None, []
    for line in text.split("\n"):
        parts, state = split_code(line, language, *([] if state is None else [state]))
        lines.append([(part, kind) for part, kind in parts if kind is not None])
    return lines


@pytest.mark.parametrize(("language", "text", "lines"), CASES, ids=[f"{case[0]}: {case[1][:24]!r}" for case in CASES])
def test_what_a_language_means(language, text, lines):
    assert lex(text, find_language(language)) == lines


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_language_has_a_case(language):
    assert language in {find_language(case[0]) for case in CASES}
    assert language in ALIASES


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("py", "python"),
        ("Python", "python"),
        ("tsx", "javascript"),
        ("ts {1,3}", "javascript"),
        ("{.rust}", "rust"),
        ("src/app/main.go", "go"),
        ("C++", "c"),
        ("sh", "bash"),
        ("", ""),
        ("brainfuck", ""),
        ("Makefile", ""),
    ],
)
def test_a_language_is_found_by_its_names_and_by_those_of_files(name, language):
    assert find_language(name) == language


def test_an_unknown_language_is_plain():
    assert Highlighter("nobody-knows").is_plain
    assert highlight("if x\n", "nobody-knows") == [[Piece("if x", wraps=False)], []]


def test_pieces_have_the_colours_that_are_given():
    (line,) = highlight("x = 'a'", "python", {CodeKind.STRING: "38;5;2"})

    assert [(piece.text, piece.codes) for piece in line] == [("x = ", ""), ("'a'", "38;5;2")]


CODE = st.text(st.sampled_from("abE\"'`#/*<>!-{}[]()=:;,.\\$&|@+ \t0x_éç~%r") | st.characters(), max_size=60)


@given(st.sampled_from(sorted(GRAMMARS)), st.lists(CODE, max_size=6))
def test_nothing_of_the_text_is_lost(language, lines):
    texts = [line.replace("\n", " ") for line in lines]
    shown = highlight("\n".join(texts), language)

    assert ["".join(piece.text for piece in line) for line in shown] == (texts or [""])
    assert all(piece.text and not piece.wraps for line in shown for piece in line)


def test_of_a_very_long_line_the_rest_is_plain():
    text = "'a' " * MAX_LINE
    (line,) = highlight(text, "python")

    assert "".join(piece.text for piece in line) == text
    assert line[-1].codes == ""


HOSTILE = [
    '"', "'", "`", "\\", '"\\', "/*", "//", "<!--", "<a", "<a b='", "[", "#[", "(/", "(/[", "=/a", "<<", "<<A ", "a:", "a b ", "- ",
    "--", "-a", "**", "**a", "![a](", "`a", "a=", "a.", "a+,", "1.", "1e", "0x", "${", "$(", "@", "@@", "a!", "'a", "'\\", 'r#"', '"a" ', '"a" :',
    " ", "\t", "&a", "&#", "a/", "é", "_", ".", "~", "|", "{", ";", "then ", "A=1 ", "def ",
]  # fmt: skip


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_hostile_line_takes_time_in_proportion_to_its_length(language):
    split_code("warm", language)
    slow = {}
    for unit in HOSTILE:
        for text in (unit * (MAX_LINE // len(unit)), "a" + unit * (MAX_LINE // len(unit) - 1) + "z"):
            began = time.process_time()
            split_code(text, language)
            slow[unit] = max(slow.get(unit, 0.0), time.process_time() - began)

    with measured() as spent:
        split_code(max(slow, key=lambda unit: slow[unit]) * 2_500, language)
    # A token for each character or two is the most there can be: under 5 µs each.
    assert max(slow.values()) < 0.6, {unit: took for unit, took in slow.items() if took >= 0.6}
    assert spent.seconds < 0.15


def test_an_ordinary_line_takes_20_microseconds():
    root = Path(everturn.__file__).parent
    lines = [line for name in ("engine/loop.py", "frontends/markdown.py", "core/decide.py") for line in (root / name).read_text("utf-8").split("\n")]  # fmt: skip
    highlighter = Highlighter("python")
    highlighter.line("warm")

    with measured() as spent:
        for line in lines:
            highlighter.line(line)

    assert spent.seconds / len(lines) < 20e-6
