# Two commands matter: `make dev` and `make test`. `make help` lists the rest.

PYTHON ?= python3
PORT ?= 2024
VENV := .venv
BIN := $(VENV)/bin
# The tests start many processes; all of them, and each worker, need the compiled files.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --numprocesses logical --dist worksteal
READY := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help dev test test-slow test-product test-all lint demo bench format docs lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "langgraph-once needs Python 3.11 or newer; choose one with make PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

dev: $(READY) ## Serve the sample graphs with `langgraph dev` (PORT=2024)
	@$(BIN)/langgraph-once check --port $(PORT)
	$(BIN)/langgraph dev --no-browser --port $(PORT)

test: lint ## Lint, types, import directions and all tests but the slow proofs
	$(PYTEST) -m "not slow and not product"

test-slow: $(READY) ## The slow proofs
	$(PYTEST) -m slow

test-product: $(READY) ## Every variant, here and over a server; takes half an hour
	$(PYTEST) -m product

test-all: test test-slow test-product ## Everything

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy plugin graphs demo bench tests
	$(BIN)/lint-imports

demo: $(READY) ## Compare what RemoteGraph delivers with what OnceRemoteGraph delivers
	@$(BIN)/python -m demo

bench: $(READY) ## Measure, and write bench/RESULTS.md
	$(BIN)/python -m bench

format: $(READY) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY) ## Write the reference of the settings: .env.example and the JSON schema
	$(BIN)/langgraph-once env > .env.example
	$(BIN)/langgraph-once schema > docs/langgraph-once.schema.json

lock: $(READY) ## Pin the newest versions that pyproject.toml allows
	$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --upgrade \
		--extra dev --extra postgres --no-emit-index-url --no-header --no-annotate --quiet \
		--output-file requirements.lock pyproject.toml

clean: ## Remove what was installed and cached
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
