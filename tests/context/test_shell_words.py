"""What a command is about: tests of every tool, searches, and files that are shown."""

import pytest

from everturn.context.shell_words import ShellTest, find_test, is_search, list_opened, says_failed

TESTS = """
pytest
python -m pytest -q
python3 -m unittest
python -m doctest x.py
python manage.py test app
python tests/test_a.py
uv run pytest
hatch test
tox -e py311
nox
cargo test
cargo nextest run
cargo check
go test ./...
npm test
npm t
npm run test:unit
npm run -s test
pnpm -r test
yarn test
bun test
deno test
node --test
npx jest
npx vitest run
npx playwright test
nx test app
turbo run test
make test
make -C sub -j4 check
ninja -C build test
meson test -C build
ctest --output-on-failure
./gradlew test
gradle :app:test
./mvnw -q verify
mvn -pl x test
sbt test
dotnet test
swift test
zig build test
bazel test //...
just test
mix test
stack test
dart test
flutter test
bundle exec rspec
rake test
bin/rails test
ruby -Itest test/foo_test.rb
php artisan test
vendor/bin/phpunit
prove -l
bats tests
R CMD check .
./run_tests.sh
sh test.sh
docker compose run app pytest
CI=1 npm test
""".strip().splitlines()
OTHERS = """
ls -l
ls tests
git status
git commit -m test
git checkout test
cat test.py
echo testing
grep test a.py
rg pytest
test -f x
[ -e test ]
cd tests
mkdir test
rm -rf test
vim test.py
pip install pytest
npm install jest
cargo build
npm run lint
mypy .
""".strip().splitlines()


@pytest.mark.parametrize("command", TESTS)
def test_tests_of_every_tool_are_known(command):
    assert find_test(command) == ShellTest(command)


@pytest.mark.parametrize("command", [*OTHERS, "", "   ", "&& ||", "'unclosed"])
def test_what_only_names_a_test_is_none(command):
    assert find_test(command) == ShellTest("")


@pytest.mark.parametrize(
    "command",
    [
        "cd sub && npm test",
        "cd sub && npm test 2>&1",
        "cd sub  &&  npm test > log.txt 2>&1",
        "cd sub && npm test && echo ok",
    ],
)
def test_a_test_has_the_same_name_wherever_its_output_goes(command):
    assert find_test(command) == ShellTest("cd sub && npm test")


@pytest.mark.parametrize("command", ["npm test 2>&1 | tail -20", "npm test || true", "npm test; echo $?"])
def test_the_exit_code_of_a_test_with_something_behind_it_tells_nothing(command):
    assert find_test(command) == ShellTest("npm test", is_last=False)


@pytest.mark.parametrize(
    "output",
    [
        "=== 1 failed, 3 passed in 0.1s ===",
        "FAILED tests/test_a.py::test_b",
        "--- FAIL: TestA (0.00s)\nFAIL",
        "test result: FAILED. 1 passed; 1 failed",
        "Tests:       2 failed, 3 passed, 5 total",
        "  1 failing",
        "not ok 3 - it adds",
        "Tests run: 3, 1 failures",
    ],
)
def test_the_words_of_a_test_that_failed(output):
    assert says_failed(output)


@pytest.mark.parametrize(
    "output", ["", "12 passed in 0.3s", "ok  	example.com/a	0.1s", "0 failed", "0 errors, 0 failures"]
)
def test_the_words_of_a_test_that_passed(output):
    assert not says_failed(output)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rg -n foo src", True),
        ("cd src && grep -rn foo .", True),
        ("find . -name '*.py' | head", True),
        ("git grep foo", True),
        ("LC_ALL=C /usr/bin/grep -r x", True),
        ("git log", False),
        ("make | grep error", False),
        ("ls", False),
        ("", False),
    ],
)
def test_searches(command, expected):
    assert is_search(command) is expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/a.py", ["a.py"]),
        ("sed -n '1,40p' src/a.py | head -5", ["a.py"]),
        ("head -n 3 'b.txt' c/d", ["b.txt", "d"]),
        ("rm src/a.py", []),
        ("cat", []),
    ],
)
def test_files_that_are_shown(command, expected):
    assert list_opened(command) == expected
