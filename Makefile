# Everything a newcomer needs. Each target sets up what it uses; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help run demo test check docs bench torture simulate lock clean console console-check console-dev

PYTHON ?= python3
BIN := .venv/bin
UV := VIRTUAL_ENV=$(CURDIR)/.venv UV_PYTHON_DOWNLOADS=never UV_SYSTEM_CERTS=1 $(BIN)/uv
QUIETLY := --quiet --disable-pip-version-check
SEED ?= 1
ROUNDS ?= 20
MINUTES ?= 2
PROCESSES ?= 3
PORT ?= 8080
WORKERS ?= 3
CLIENTS ?= 200
SECONDS ?= 60
# As many seconds of one core, shared by the workers, go to simulated seeds that follow from this commit's hash; 0: only the fixed ones.
SIMULATION ?= 90

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

run: .venv/ready ## serve the examples over HTTP, one of them waiting for your approval: make run PORT=8081
	$(BIN)/python examples/serve.py --port $(PORT)

demo: .venv/ready ## pause a workflow, kill its process, and finish it in another
	$(BIN)/python examples/demo.py

test: .venv/ready .venv/browser ## run every test, 90 seconds of simulated faults among them: make test SIMULATION=0
	$(if $(filter-out 0,$(SIMULATION)),LAYOVER_SIMULATION_SECONDS=$(SIMULATION) LAYOVER_SIMULATION_SEED=commit) $(BIN)/pytest -n $(WORKERS) --dist worksteal

check: .venv/docs ## lint, format, types, layers, order, documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_order.py
	$(MAKE) --no-print-directory docs

docs: .venv/docs ## build the documentation in site/; a broken link, or anything else that is wrong with it, is an error
	$(BIN)/python tools/docs_site/build.py site

bench: .venv/ready ## measure; prints what docs/performance.md records
	$(BIN)/python bench/expressions.py
	$(BIN)/python bench/definitions.py
	$(BIN)/python bench/core.py
	$(BIN)/python bench/runtime.py
	$(BIN)/python bench/runtime.py --postgres
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/scale.py --postgres
	$(BIN)/python bench/queries.py
	$(BIN)/python bench/queries.py --postgres
	$(BIN)/python bench/start_up.py
	$(BIN)/python bench/audit.py
	$(BIN)/python bench/audit.py --postgres
	$(BIN)/python bench/metrics.py
	$(BIN)/python bench/metrics.py --postgres
	$(BIN)/python bench/seams.py
	$(BIN)/python bench/tracing.py
	$(BIN)/python bench/kit.py
	$(BIN)/python bench/failures.py
	$(BIN)/python bench/failures.py --calls
	$(BIN)/python bench/logs.py
	$(BIN)/python bench/observed.py --calls
	$(BIN)/python bench/http_surface.py
	$(BIN)/python bench/http_surface.py --postgres
	$(BIN)/python bench/console.py
	$(BIN)/python bench/batches.py
	$(BIN)/python bench/batches.py --postgres

torture: .venv/ready ## property tests, a broken engine, dying processes, load: make torture SEED=7 ROUNDS=100 MINUTES=5
	LAYOVER_TORTURE=$(ROUNDS) LAYOVER_MOVE_SEED=$(SEED) LAYOVER_SIMULATION_SECONDS=90 LAYOVER_SIMULATION_SEED=commit $(BIN)/pytest -n $(WORKERS) --dist worksteal --hypothesis-seed=$(SEED)
	$(BIN)/python tools/break_engine.py
	$(BIN)/python tools/break_runtime.py
	$(BIN)/python tools/simulate.py --seed $(SEED) --seconds 2700
	$(BIN)/python tools/simulate.py --seed $(SEED) --seconds 900 --shuffled
	$(BIN)/python tools/torture.py --seed $(SEED) --minutes $(MINUTES) --processes $(PROCESSES)
	$(BIN)/python tools/torture.py --postgres --seed $(SEED) --minutes $(MINUTES) --processes $(PROCESSES)
	LAYOVER_AUDIT_EDITS=1000 LAYOVER_AUDIT_SEED=$(SEED) $(BIN)/pytest -n $(WORKERS) tests/audit/test_tampering.py
	$(BIN)/python bench/queries.py --postgres 1000000
	$(BIN)/python tools/quorum_races.py --seed $(SEED)
	$(BIN)/python tools/quorum_races.py --postgres --seed $(SEED)
	$(BIN)/python tools/batch_kills.py --seed $(SEED)
	$(BIN)/python tools/batch_kills.py --postgres --seed $(SEED)
	$(BIN)/python tools/trigger_races.py --seed $(SEED)
	$(BIN)/python tools/trigger_races.py --postgres --seed $(SEED)
	$(BIN)/python tools/delivery_chaos.py --seed $(SEED)
	$(BIN)/python tools/delivery_chaos.py --postgres --seed $(SEED)
	$(BIN)/python tools/chaos.py --seed $(SEED) --minutes $(MINUTES) --processes $(PROCESSES)
	$(BIN)/python tools/chaos.py --postgres --seed $(SEED) --minutes $(MINUTES) --processes $(PROCESSES)
	$(BIN)/python tools/load.py --seed $(SEED) --clients $(CLIENTS) --seconds $(SECONDS)
	$(BIN)/python tools/load.py --postgres --seed $(SEED) --clients $(CLIENTS) --seconds $(SECONDS)
	$(BIN)/python tools/streams.py
	$(BIN)/python tools/streams.py --postgres

simulate: .venv/ready ## run engines under seeded faults in virtual time: make simulate SEED=7 SECONDS=60
	$(BIN)/python tools/simulate.py --seed $(SEED) --seconds $(SECONDS)

console: console/node_modules/ready .venv/ready ## build the console into src/layover/console/static; needs Node 20.19 or newer
	mkdir -p console/build
	$(BIN)/python tools/openapi_file.py console/build/openapi.json
	cd console && npm run --silent types && npm run --silent build

console-check: console/node_modules/ready .venv/ready ## lint, test and rebuild the console: the same bytes as those in the repository
	cd console && npm run --silent lint && npm run --silent test
	$(MAKE) --no-print-directory console
	git diff --exit-code --stat -- src/layover/console/static console/src/api/schema.d.ts
	test -z "$$(git ls-files --others --exclude-standard src/layover/console/static)"

console-dev: console/node_modules/ready ## serve the sources of the console, with the API of make run: http://localhost:5173
	cd console && npm run dev

lock: .venv/ready ## resolve the dependencies anew into requirements.lock and requirements-docs.lock
	$(UV) pip compile --quiet --universal --all-extras --group dev --generate-hashes \
		--no-annotate --no-header --upgrade pyproject.toml -o requirements.lock
	$(UV) pip compile --quiet --universal --group docs --generate-hashes \
		--no-annotate --no-header --upgrade --constraints requirements.lock -o requirements-docs.lock

clean: ## remove what the other targets made
	rm -rf .venv .run site .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# The stamp is newer than the lock only after a complete install, so an interrupted one is repeated. uv is fast; where it
# cannot reach the registry, pip may, since it knows the mirrors and certificates of this machine.
.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Layover needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install $(QUIETLY) uv
	$(UV) pip install --quiet --require-hashes -r requirements.lock \
		|| $(BIN)/python -m pip install $(QUIETLY) --require-hashes -r requirements.lock
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --editable .
	touch $@

# What only the documentation needs is installed when it is built; the versions of what both need are those of the first lock.
.venv/docs: .venv/ready requirements-docs.lock
	$(UV) pip install --quiet --require-hashes -r requirements-docs.lock \
		|| $(BIN)/python -m pip install $(QUIETLY) --require-hashes -r requirements-docs.lock
	touch $@

# Pages are tried in Chromium. Root on a Debian gets it from the package manager; elsewhere these tests are skipped, and each run says so.
.venv/browser: .venv/ready
	@$(BIN)/python -m tests.servers.chromium || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& echo "Installing Chromium, in which pages are tried" \
		&& timeout 300 sh -c 'apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium' >/dev/null 2>&1; } \
		|| true
	@if $(BIN)/python -m tests.servers.chromium; then touch $@; else \
		echo "No Chromium: the tests of pages are skipped. Install one (apt-get install chromium), or name one by LAYOVER_TEST_BROWSER."; fi

# Only who changes the console needs Node: what it is built into is part of the repository.
console/node_modules/ready: console/package-lock.json console/package.json
	cd console && npm ci --ignore-scripts
	touch $@
