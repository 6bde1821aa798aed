# Two commands matter: `make dev` and `make test`. `make help` lists the rest.

PYTHON ?= python3
PORT ?= 2024
VENV := .venv
ifneq ($(origin PYTHON),file)  # a Python asked for by name: found with pyenv too, in an environment of its own
override PYTHON := $(or $(shell $(PYTHON) -c 'import sys; print(sys.executable)' 2>/dev/null),\
	$(lastword $(wildcard $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/*/bin/$(PYTHON))),$(PYTHON))
VENV := .venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
endif
BIN := $(VENV)/bin
# The tests start many processes; all of them, and each worker, need the compiled files.
# A test that takes longer than $(1) seconds ends the run, which says what each thread waits for.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --numprocesses logical --dist loadscope --no-loadscope-reorder \
	--max-worker-restart 0 --override-ini faulthandler_exit_on_timeout=true --override-ini faulthandler_timeout=$(1)
READY := $(VENV)/.installed
CORE := build/core
INSTALL := --quiet --no-compile --require-hashes --no-deps
UV := UV_HTTP_TIMEOUT=10 $(BIN)/uv
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help python dev test pytest test-core test-slow test-examples test-product test-lowest test-all canary mutate lint style types demo bench proof format docs docs-site lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "langgraph-once needs Python 3.11 or newer; choose one with make PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	@# Pip alone takes a minute: it weighs each file on the index. Uv does not, nor does it know pip's settings.
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.lock
	$(BIN)/python -m pip install $(INSTALL) -r $(VENV)/uv.lock
	$(BIN)/python -m pip config list | grep -Eq '[.](index-url|no-index)=' || \
		$(UV) pip install $(INSTALL:--no-compile=) --python $(BIN)/python -r requirements.lock || true
	$(BIN)/python -m pip install $(INSTALL) -r requirements.lock
	@# What no test imports is not compiled beforehand, nor what pytest compiles itself.
	-@$(BIN)/python -m compileall -qq -j 0 -x '/(tests|google|mypy|pip|pygments|setuptools)/|/(test_|conftest)' \
		$(VENV)/lib plugin graphs demo tests
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

python: ## Which Python the environment is made of; PYTHON=python3.12 chooses another
	@$(PYTHON) --version

dev: $(READY) ## Serve the sample graphs with `langgraph dev` (PORT=2024, DATABASE=postgres)
	@$(BIN)/langgraph-once check --port $(PORT)
	@$(if $(filter postgres,$(DATABASE)),$(BIN)/python -m demo.embedded_postgres) \
		$(BIN)/langgraph dev --no-browser --n-jobs-per-worker 10 --port $(PORT)

test: style ## Lint, import directions, types and all tests but the slow proofs
	@$(MAKE) --no-print-directory --jobs types pytest

pytest: $(READY) ## All tests but the slow proofs, without lint and types (TESTS=tests/unit_tests/serde)
	$(call PYTEST,300) $(TESTS)

# With what stands in this folder, not what is committed.
test-core: ## Those of the mission, where operations are deleted
	rm -rf $(CORE) && mkdir -p $(CORE)
	git ls-files -z | grep -zv -e '^plugin/langgraph_once_ops/' -e '^tests/ops/' | xargs -0 cp -P --parents -t $(CORE)
	$(MAKE) --no-print-directory -C $(CORE) pytest

test-slow: $(READY) ## The slow proofs
	$(call PYTEST,1200) -m slow

test-examples: $(READY) ## Twenty times as many random examples of each law
	EXAMPLES=20 $(call PYTEST,1200) -m "hypothesis and not slow and not product"

test-product: $(READY) ## Every variant, here and over a server; takes half an hour
	$(call PYTEST,1200) -m product

# All that touches what another package made, without the laws, whose random examples prove no floor.
# What servers and agents of others need is what the lock has: its floor is what `make test` runs with.
LOWEST := checkpoint events remote serde/core serde/layers serde/plans serde/stock store stream/running stream/v3 test_settings.py test_extras.py
NEED_SERVER := checkpoint/test_opening.py checkpoint/test_task_errors.py events/test_ag_ui_agent.py remote/test_run_reader.py stream/v3/test_transformers_of_others.py
test-lowest: $(READY) ## Test the rooms with the lowest version of each package that we ask for
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct \
		--requirement tests/lowest/tools.txt --editable '.[aes,ag-ui,arrow,brotli,metrics,ops,polars,postgres,sse]'
	.venv-lowest/bin/python -m pytest --numprocesses logical --dist loadscope -m "not hypothesis and not slow and not product" \
		$(addprefix tests/unit_tests/,$(LOWEST)) $(addprefix --ignore tests/unit_tests/,$(NEED_SERVER))

test-all: test test-slow test-examples test-product ## Everything

# Without hashes: they would be the index's own of this minute, and prove nothing. The lock's protect all else.
canary: $(READY) ## Test what we use of upstream's private parts with the newest versions
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-canary
	$(BIN)/uv pip install --quiet --refresh --python .venv-canary/bin/python --upgrade \
		--override tests/canary/overrides.txt --editable '.[dev,postgres]'
	.venv-canary/bin/python -m tests.canary.newest
	.venv-canary/bin/pytest --numprocesses logical tests/canary $$(.venv-canary/bin/python -m tests.canary)

mutate: $(READY) ## Which one-token changes no test notices (SAMPLES=50 SEED=… SINCE=main~1 ROOM=stream AT=stream/graph.py:37 SECONDS=60)
	$(BIN)/python -m tests.mutation $(if $(SAMPLES),--samples $(SAMPLES)) $(if $(SEED),--seed $(SEED)) \
		$(if $(SINCE),--since $(SINCE)) $(if $(ROOM),--room $(ROOM)) $(if $(AT),--at $(AT)) \
		$(if $(SECONDS),--seconds $(SECONDS))

lint: style types

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy plugin graphs demo bench examples tests

demo: $(READY) ## Compare what a stock client has of each sample with what ours has
	@$(BIN)/python -m demo

bench: $(READY) ## Measure, and write build/proof/benchmarks.md
	$(BIN)/python -m bench

proof: $(READY) ## Build the pages behind the figures of docs/proof.md in build/proof (PAGES="fidelity sources")
	$(BIN)/python -m tests.proof $(PAGES)

format: $(READY) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY) ## Write the references: .env.example, the JSON schema, and what is generated of docs/
	$(BIN)/langgraph-once env > .env.example
	$(BIN)/langgraph-once schema > docs/langgraph-once.schema.json
	$(BIN)/python -m tests.docs.reference

docs-site: $(READY) ## Build the site of docs/ in build/site
	$(BIN)/zensical build --strict

lock: $(READY) ## Pin the newest versions that pyproject.toml allows
	$(BIN)/uv pip compile --refresh --universal --generate-hashes --python-version 3.11 --upgrade \
		--extra dev --extra postgres --no-emit-index-url --no-header --no-annotate --quiet \
		--output-file requirements.lock pyproject.toml

clean: ## Remove what was installed and cached
	rm -rf .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
