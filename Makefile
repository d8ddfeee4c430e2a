# Postroom: `make demo` shows the main job, `make test` proves it. Both set themselves up first.
# Needs Python 3.11+ with venv, make and git; nothing is compiled. uv is used when it is on PATH.

SHELL := /bin/bash
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.postroom-ready
# Never let the caller's Python settings leak into ours.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test lint format fuzz stress bench interop thunderbird nightly picture lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with exactly the locked packages (quick the second time)

$(STAMP): requirements/dev.txt pyproject.toml scripts/setup.sh
	@bash scripts/setup.sh $(VENV)
	@touch $@

demo: $(STAMP) ## The main job from end to end: no key, no network
	@$(BIN)/postroom demo $(ARGS)

serve: $(STAMP) ## Run the server
	@$(BIN)/postroom serve $(ARGS)

test: $(STAMP) lint ## All tests and checks (about twelve minutes on two cores)
	@$(BIN)/python -m pytest -n auto --dist loadgroup -m "not interop" $(ARGS)

lint: $(STAMP) ## ruff, mypy --strict and the import laws
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@PYTHONPATH=. $(BIN)/lint-imports --no-logo

format: $(STAMP) ## Set the code as ruff sets it
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

fuzz: $(STAMP) ## Damaged streams against the wire layer for a minute (ARGS="--seconds 600 --seed N")
	@$(BIN)/python -m tests.wire.fuzz $(ARGS)

stress: $(STAMP) ## 20 IMAP clients at once for a minute, against what they may be told (ARGS="--seed N")
	@$(BIN)/python -m tests.stress $(ARGS)

bench: $(STAMP) ## Measure; the figures go to docs/performance.md
	@$(BIN)/python -m bench $(ARGS)

interop: $(STAMP) ## Real mail programs against a running Postroom (one that is not installed fails)
	@$(BIN)/python -m pytest tests/interop tests/crash -m "interop and not desktop" $(ARGS)

thunderbird: $(STAMP) ## Thunderbird itself on a screen of its own (needs thunderbird xvfb libnss3-tools imagemagick)
	@$(BIN)/python -m pytest tests/interop/thunderbird -m desktop $(ARGS)

nightly: $(STAMP) ## The same tests with the large counts (up to an hour)
	@POSTROOM_TEST_NIGHTLY=1 $(BIN)/python -m pytest -n auto --dist loadgroup -m "not interop" $(ARGS)

picture: $(STAMP) ## Draw docs/pictures/demo.svg again, from a demo that passed
	@$(BIN)/postroom demo --no-keep --picture docs/pictures/demo.svg $(ARGS)

lock: ## Write requirements/*.txt again (needs uv)
	@bash scripts/lock.sh

clean: ## Remove everything that make made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
