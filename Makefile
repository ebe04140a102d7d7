# Wrappers only: every command also works by hand (README, "By hand").
.PHONY: setup setup-dev run test test-browser soak chaos check format bench lock help

PY := .venv/bin/python
LOCK := .venv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.12 \
	--no-header --no-emit-index-url --no-emit-find-links --no-annotate

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

setup: ## create .venv, install the locked packages, build the front end
	@.ci/setup

setup-dev:
	@.ci/setup --dev

run: setup ## start everything at http://127.0.0.1:8000
	@exec $(PY) manage.py up

test: setup-dev ## the whole suite, on SQLite and on PostgreSQL
	@.ci/test

test-browser: setup-dev ## the browser tests alone
	@$(PY) -m pytest -m "browser and not soak"

soak: setup-dev ## the long-running tests
	@TEST_DB=postgres $(PY) -m pytest -n 2 --dist=loadscope -m "one_database and database and not soak"
	@$(PY) -m pytest -m soak

chaos: setup-dev ## the tests that kill processes, again and again
	@.ci/chaos

check: setup-dev ## format, lint, types, import rules, migrations in sync, unused code
	@.ci/check

format: setup-dev ## mend format and lint where that is safe
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

bench: setup-dev ## the benchmarks, as ratios to the floor of the same run
	@$(PY) -m tests.bench $(ARGS)

lock: setup-dev ## resolve the locks anew (needs uv)
	@$(LOCK) pyproject.toml --group dev -o requirements/dev.txt
	@$(LOCK) pyproject.toml -c requirements/dev.txt -o requirements/base.txt
