"""What fits what was typed, the best first, and fast enough for each key press."""

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pace import measured

from everturn.frontends.terminal.fuzzy import MAX_TRIED, FuzzyIndex, FuzzyMatch, fold

FILES = [
    "Makefile",
    "README.md",
    "src/README.md",
    "src/app/main.py",
    "src/app/user_account.py",
    "src/app/userAccountView.ts",
    "src/frontends/terminal/keys.py",
    "src/frontends/terminal/key_sequences.py",
    "src/frontends/terminal/files.py",
    "src/profile.py",
    "src/settings/keys.py",
    "tests/frontends/terminal/test_keys.py",
    "tests/test_main.py",
    "docs/ÉTUDE.md",
]
FIRST = {
    "make": "Makefile",
    "readme": "README.md",
    "main": "src/app/main.py",
    "MAIN": "src/app/main.py",
    "ua": "src/app/user_account.py",
    "uav": "src/app/userAccountView.ts",
    "keys": "src/settings/keys.py",
    "termkeys": "src/frontends/terminal/keys.py",
    "term keys": "src/frontends/terminal/keys.py",
    "terminal/keys": "src/frontends/terminal/keys.py",
    "tk": "tests/frontends/terminal/test_keys.py",
    "testkeys": "tests/frontends/terminal/test_keys.py",
    "ks": "src/frontends/terminal/key_sequences.py",
    "file": "src/frontends/terminal/files.py",
    "étu": "docs/ÉTUDE.md",
}


def is_subsequence(letters, text):
    left = iter(text)
    return all(letter in left for letter in letters)


@pytest.mark.parametrize("typed", FIRST)
def test_what_a_person_means_comes_first(typed):
    assert FuzzyIndex(FILES).find(typed)[0].text == FIRST[typed]


def test_without_a_query_the_first_names_come_in_their_order():
    assert FuzzyIndex(FILES).find(" ", 2) == [FuzzyMatch("Makefile", ()), FuzzyMatch("README.md", ())]


def test_names_that_fit_equally_well_keep_their_order():
    assert [found.text for found in FuzzyIndex(["xb", "xa", "xc"]).find("x")] == ["xb", "xa", "xc"]


def test_a_command_is_found_by_its_beginning_and_by_its_letters():
    commands = FuzzyIndex(["help", "cost", "context", "compact", "clear", "security-review", "review"])

    assert [found.text for found in commands.find("co")] == ["cost", "context", "compact"]
    assert commands.find("cl")[0].text == "clear"
    assert commands.find("review")[0].text == "review"
    assert commands.find("sr")[0].text == "security-review"
    assert commands.find("xyz") == []


def test_the_places_of_what_was_typed_are_told():
    assert FuzzyIndex(["src/user_account.py"]).find("ua") == [FuzzyMatch("src/user_account.py", (4, 9))]


def test_a_name_whose_lower_case_is_longer_keeps_its_places():
    (found,) = FuzzyIndex(["İİ/istanbul.txt"]).find("txt")

    assert "".join(found.text[place] for place in found.places) == "txt"


NAMES = st.lists(st.text(st.sampled_from("abAB_/.-1é İ"), min_size=1, max_size=12), max_size=30)
TYPED = st.text(st.sampled_from("abB_/1é"), max_size=5)


@given(NAMES, TYPED)
def test_every_name_that_fits_is_found_and_no_other(names, typed):
    found = FuzzyIndex(names).find(typed, len(names) + 1)

    assert sorted(each.text for each in found) == sorted(
        name for name in names if is_subsequence(fold(typed), fold(name))
    )
    for each in found:
        assert list(each.places) == sorted(set(each.places))
        assert "".join(fold(each.text)[place] for place in each.places) == fold(typed)


@given(NAMES, st.lists(TYPED, max_size=6))
def test_what_was_typed_before_changes_nothing(names, queries):
    index = FuzzyIndex(names)

    for typed in queries:
        assert index.find(typed) == FuzzyIndex(names).find(typed)


def make_paths(count):
    draw = random.Random(20)  # noqa: S311 - names, no secrets
    words = [
        "".join(draw.choice("bcdfglmnprst") + draw.choice("aeiou") for _ in range(draw.randint(1, 4)))
        for _ in range(700)
    ] + ["terminal", "keys", "history", "main", "test"]
    paths = set()
    while len(paths) < count:
        folders = [draw.choice(words) for _ in range(draw.randint(1, 6))]
        name = draw.choice("_-.").join(draw.choice(words) for _ in range(draw.randint(1, 3)))
        paths.add(f"{'/'.join(folders)}/{name}{draw.choice(['.py', '.ts', '.md', '.go', ''])}")
    return sorted(paths, key=lambda path: (path.count("/"), path))


@pytest.fixture(scope="module")
def many():
    paths = make_paths(100_000)
    return paths, FuzzyIndex(paths)


def test_of_100_000_paths_each_key_press_finds_the_best_in_16_ms(many):
    paths, index = many
    draw = random.Random(5)  # noqa: S311 - the same
    took = []
    for typed in ["terminal", "testkeys", "src/history.py", "zzz", *(draw.choice(paths)[-12:] for _ in range(6))]:
        for count in range(1, len(typed) + 1):
            with measured() as spent:
                index.find(typed[:count])
            took.append(spent.seconds)

    assert median(took) <= 0.016
    assert max(took) <= 0.1


def test_among_very_many_paths_a_rare_one_is_found_by_letters_that_all_of_them_have():
    names = [f"{at}/abcdef/fedcba" for at in range(MAX_TRIED + 1_000)] + ["deep/x/aabbccddeeff"]

    assert [found.text for found in FuzzyIndex(names).find("aabbccddeeff")] == ["deep/x/aabbccddeeff"]
    assert [found.text for found in FuzzyIndex(names).find("abbcddeef")] == ["deep/x/aabbccddeeff"]


def test_among_many_paths_one_is_found_by_its_name_by_its_beginnings_and_by_a_part(many):
    paths, _ = many
    index = FuzzyIndex([*paths, "zone/quux/wormhole_valve_hatch.py"])

    for typed in ("wormhole", "wvh", "wormhatch", "quux/worm", "holevalve", "zqwvh"):
        texts = [index.find(typed[:count], 20) for count in range(1, len(typed) + 1)][-1]
        assert "zone/quux/wormhole_valve_hatch.py" in [found.text for found in texts], typed


def test_a_name_of_a_megabyte_takes_no_time():
    index = FuzzyIndex(["a" * 1_000_000, "b/" * 500_000])

    with measured() as spent:
        index.find("a" * 90)
        index.find("bbbb/")

    assert spent.seconds < 1
