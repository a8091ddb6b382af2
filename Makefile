# `make demo` and `make test` need Python 3.11-3.13 and a package registry, nothing else. Where Node.js 20 or later and
# npm are there, `make test` runs other people's clients of our wire formats and the page's modules too, and `make check`
# the page's types and bundles. Where Chromium and Firefox are there, `make test` opens the page in them; CHROMIUM=/path
# and FIREFOX=/path name others.
# PYTHON=/path/to/python3 chooses the interpreter; STUDIO_PORT, DATA, SET and ARGS go to the targets that name them.

RUN := .venv/bin
STUDIO_PORT ?= 2024
SET ?= own
WIRE := tests/wire/node
PAGE := tests/page/node
ENGINES := tests/engines/node
CODE := answers api bench citewell cli evals graph migrations nodes prompts research text tools tests

# Tests and commands start hundreds of processes. Where an image says that Python keeps no bytecode, each would compile
# our code anew, a sixth of its start, and each worker of the tests all of theirs.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo serve studio test test-engines contract check format page bench screenshots eval lock sbom clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: .venv/runtime.installed ## ingest the manual, ask it questions, show each run
	@$(RUN)/citewell demo $(ARGS)

serve: .venv/runtime.installed ## serve the HTTP API
	@$(RUN)/citewell serve $(ARGS)

studio: .venv/dev.installed ## serve the graph to LangGraph Studio on STUDIO_PORT
	@LANGSMITH_TRACING=false LANGSMITH_TRACING_V2=false LANGGRAPH_CLI_NO_ANALYTICS=1 $(RUN)/langgraph dev --no-browser --no-reload --host 127.0.0.1 --port $(STUDIO_PORT)

# Without Node.js the tests that need it skip, and each says which client it missed.
NODE := $(shell command -v node >/dev/null && command -v npm)
CLIENTS := $(if $(NODE),$(WIRE)/node_modules/.package-lock.json)
PAGE_CHECKS := $(if $(NODE),$(PAGE)/node_modules/.package-lock.json)
SERVERS := $(if $(NODE),$(ENGINES)/node_modules/.package-lock.json)

test: .venv/dev.installed $(CLIENTS) $(PAGE_CHECKS) ## run the tests, four files at a time: they wait as much as they work
	@$(RUN)/pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS)

test-engines: .venv/dev.installed .engines/installed $(SERVERS) ## run the tests that need an engine or another PostgreSQL; make test skips them
	@PATH="$(CURDIR)/.engines/bin:$$PATH" PYTHONPATH="$$(.engines/bin/python -c 'import site; print(site.getsitepackages()[0])')" $(RUN)/pytest tests/engines $(ARGS)

contract: .venv/dev.installed .contract/installed ## hold the service to its OpenAPI document; CONTRACT_SECONDS=60 bounds it
	@PATH="$(CURDIR)/.contract/bin:$$PATH" $(RUN)/pytest tests/api/test_contract.py tests/api/test_generated_clients.py $(ARGS)

check: .venv/dev.installed $(PAGE_CHECKS) ## check formatting, style, types and layers
	@$(RUN)/ruff format --check --quiet $(CODE) || { echo "make format puts this right"; exit 1; }
	@$(RUN)/ruff check --quiet $(CODE)
	@$(RUN)/mypy
	@$(RUN)/lint-imports --no-logo
	@$(RUN)/python -m tests.page.wire_types --check
	@if command -v node >/dev/null && [ -x $(PAGE)/node_modules/.bin/tsc ]; then $(PAGE)/node_modules/.bin/tsc -p $(PAGE) && node $(PAGE)/build.mjs --check; \
	else echo "The page was not checked: that takes Node.js 20 or later, npm and a registry." >&2; [ "$$CI" != true ]; fi

format: .venv/dev.installed ## put formatting and import order right
	@$(RUN)/ruff check --quiet --select I --fix $(CODE)
	@$(RUN)/ruff format $(CODE)

page: .venv/dev.installed $(PAGE)/node_modules/.package-lock.json ## bundle the page anew, with its types and what it takes from npm
	@$(RUN)/python -m tests.page.wire_types
	@node $(PAGE)/catalogue_types.mjs
	@node $(PAGE)/build.mjs

bench: .venv/dev.installed ## measure speed and memory; writes bench/results.json
	@$(RUN)/python -m bench $(ARGS)

screenshots: .venv/dev.installed ## take the manual's pictures of the page anew, with the machine's Chromium
	@$(RUN)/python -m bench.screenshots

# The gate of a checkout has a database of its own, so that checkouts of several releases don't share one.
GATE := CITEWELL_DATA_DIR="$${CITEWELL_DATA_DIR:-.citewell-gate}"

eval: .venv/dev.installed ## hold the golden set to its thresholds and baseline, or run DATA=path of your own questions
	@$(if $(DATA),,$(GATE)) $(RUN)/citewell eval $(if $(DATA),run $(SET) --path $(DATA),gate) $(ARGS)

lock: ## write the lock files anew from pyproject.toml; needs uv
	@requirements/lock.sh

sbom: .venv/runtime.installed ## write what wheel and image are made of to dist/, as CycloneDX
	@$(RUN)/python requirements/sbom.py dist

clean: ## remove the environment and every cache; libraries stay
	@rm -rf .venv .contract .engines $(WIRE)/node_modules $(PAGE)/node_modules $(ENGINES)/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .langgraph_api .citewell-gate *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# npm writes this file last, and only when everything of the lock is there.
tests/%/node/node_modules/.package-lock.json: tests/%/node/package-lock.json tests/%/node/package.json tests/%/node/.npmrc
	@echo "Installing what tests/$*/node needs from its lock (once; a few seconds)" >&2
	@(cd tests/$*/node && npm ci >/dev/null) && touch $@ || echo "npm could not install it; tests that need it will skip." >&2

# The development lock holds the runtime's, at the same versions, so it satisfies both stamps.
.venv/runtime.installed: requirements/runtime.txt pyproject.toml
	@requirements/install.sh runtime
	@touch $@

.contract/installed: requirements/contract.txt .venv/dev.installed
	@$(RUN)/python -m venv .contract
	@.contract/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/contract.txt
	@touch $@

.engines/installed: requirements/engines.txt .venv/dev.installed
	@$(RUN)/python -m venv .engines
	@.engines/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/engines.txt
	@touch $@

.venv/dev.installed: requirements/dev.txt pyproject.toml
	@requirements/install.sh dev
	@touch .venv/runtime.installed $@
