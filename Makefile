# Two commands matter: `make demo` and `make test`. Everything else is a part of them.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
# Tests start thousands of programs: without compiled modules each would compile them anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo check pages docs dist format test test-all test-bare fuzz soak bench bench-peers clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## create .venv with the pinned versions (idempotent)

$(STAMP): requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Everturn needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "the venv module is missing (Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(STAMP)

demo: $(STAMP) ## watch the loop repair a repository; the model is scripted, no key needed
	@$(BIN)/everturn demo

check: $(STAMP) ## format, lint, types, layers, stale docs (seconds)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m bench.run --check-docs

pages: $(STAMP) ## write the parts of the manual that are made from the code
	$(BIN)/python -m development.pages

format: $(STAMP) ## write the format and the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: check ## all tests that this machine can run; the end says which it could not, and why
	$(BIN)/pytest -n auto --dist worksteal

test-all: $(STAMP) ## install the Debian packages that some tests need, then run every test
	$(BIN)/python -m tests.needs --install
	EVERTURN_CI=1 $(MAKE) test

test-bare: $(STAMP) ## the tests with every optional program hidden, as on a new machine
	$(BIN)/python -m tests.bare_machine $(BIN)/pytest -n auto --dist worksteal --ignore tests/machine

fuzz: $(STAMP) ## all properties with new random examples; 20,000 lines that run unasked, watched (half an hour)
	EVERTURN_EXAMPLES=fuzz $(BIN)/pytest -n auto --dist worksteal tests/properties tests/core tests/context tests/models
	EVERTURN_EXAMPLES=fuzz EVERTURN_SHELL_FUZZ=$${EVERTURN_SHELL_FUZZ:-100000} $(BIN)/pytest -n auto --dist worksteal tests/permissions/shell
	EVERTURN_EXAMPLES=fuzz EVERTURN_ADVERSARY=$${EVERTURN_ADVERSARY:-20000} $(BIN)/pytest -n auto --dist worksteal tests/adversary/test_adversary.py
	EVERTURN_EXAMPLES=fuzz EVERTURN_STARTINGS=$${EVERTURN_STARTINGS:-20000} $(BIN)/pytest -n auto --dist worksteal tests/adversary/test_startings.py

soak: $(STAMP) ## litellm's proxy before the model server; a million files; a session killed ten thousand times at its system calls (an hour or two; needs strace)
	$(BIN)/python -m tests.modelserver.soak
	$(BIN)/python -m tests.tools.soak
	$(BIN)/python -m tests.sessions.kill.soak

bench: $(STAMP) ## the figures, against two small loops, and of tools and sessions (under half an hour)
	$(BIN)/python -m bench.run

bench-peers: $(STAMP) ## the same for other agents, installed from the registries
	$(BIN)/python -m bench.peers

dist: $(STAMP) ## build wheel and sdist, check them, install each in an empty environment and run the demo there (a minute)
	$(BIN)/python -m tests.install.release

docs: $(STAMP) .venv/docs/.ready ## the docs site with search, in build/docs; fails at a dead link
	$(BIN)/python -m development.docs_site .venv/docs/bin/zensical

.venv/docs/.ready: requirements-docs.txt
	@$(PYTHON) -m venv .venv/docs
	.venv/docs/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@

clean: ## remove what was built
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
