# What a developer types. `make help` lists it; CI calls `make check test` and nothing else.
.DEFAULT_GOAL := help
.PHONY: help setup run check test fix schema docs wheel golden bench bench-agents booted crash faults storm scenarios matrix-contract matrix-switch coverage clean
BIN := .venv/bin
STAMP := .venv/.ready
TOOLS := .venv/.tools

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' Makefile

$(STAMP): pyproject.toml scripts/setup
	@scripts/setup

$(TOOLS): $(STAMP)
	@scripts/setup --tools

setup: $(STAMP) ## make .venv, so that .venv/bin/kai is the command

run: $(STAMP) ## a terminal chat on a private daemon, with the first agent CLI found, else the bundled one
	@$(BIN)/kai chat --private

check: $(TOOLS) ## every gate: lint, types, floors, spelling, dependencies, sizes, wheel
	@$(BIN)/ruff check kai tests backends
	@$(BIN)/ruff format --check kai tests backends
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/codespell kai backends config data docs scripts systemd *.md
	@$(BIN)/deptry kai
	@$(BIN)/python -m pytest tests/gates

test: $(TOOLS) ## all set-up that tests need (apt and npm packages too), then the tests
	@scripts/setup-tests
	@scripts/install-agents
	@$(BIN)/python -m pytest -n 2 --dist worksteal -rfER

fix: $(TOOLS) ## let the linter mend what it can
	@$(BIN)/ruff check --fix kai tests backends
	@$(BIN)/ruff format kai tests backends

schema: $(TOOLS) ## write config/*.schema.json anew from the settings
	@$(BIN)/python -m kai.settings.schema_export

golden: $(TOOLS) ## write the golden files anew; read the diff before you commit it
	@KAI_GOLDEN=write $(BIN)/python -m pytest tests/context

docs: $(TOOLS) ## the tests that keep the documentation true
	@$(BIN)/python -m pytest tests/docs
wheel: $(TOOLS) ## dist/kai-*.whl
	@$(BIN)/python -m build --wheel --outdir dist

bench: $(STAMP) ## kai bench: each figure beside its baseline, measured in the same run
	@$(BIN)/kai bench
bench-agents: $(TOOLS) ## what kai adds to a turn of each real agent CLI, against its bare protocol
	@scripts/install-agents --all
	@$(BIN)/python -m tests.bench.real_agents
matrix-contract: $(TOOLS) ## every clause of the contract with every backend, on every agent CLI that can be had
	@scripts/setup-tests
	@scripts/install-agents --all
	@$(BIN)/python -m tests.matrix.contract $(ARGS)
crash: $(TOOLS) ## 200 kills of the daemon at random points; nothing accepted is lost
	@$(BIN)/python -m tests.crash
faults: $(TOOLS) ## the table of faults, each row played for real: fault, expected, seen (ARGS='--only 10,11' takes a part)
	@$(BIN)/python -m tests.faults $(ARGS)
storm: $(TOOLS) ## ten thousand faults within 45 minutes; nothing lost, nothing twice, nothing left, nothing leaked
	@$(BIN)/python -m tests.crash --storm $(ARGS)
booted: $(TOOLS) ## the installed service on a really booted Debian 12 and 13: what, expected, seen
	@scripts/setup-tests && $(BIN)/python -m tests.booted $(ARGS)
scenarios: $(TOOLS) ## the scenarios of memory and context, each with its control: id, sentence, pass, control fails (ARGS=--proof: 10,000 retrievals)
	@$(BIN)/python -m tests.scenarios $(ARGS)
matrix-switch: $(TOOLS) ## every ordered pair of agent CLIs, changed in mid-talk for real
	@scripts/setup-tests
	@scripts/install-agents --all
	@$(BIN)/python -m tests.matrix.switch
coverage: $(TOOLS) ## branch coverage of the tests on the fake agent
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -m "not real"
	@$(BIN)/coverage combine -q
	@$(BIN)/coverage report
clean: ## remove what was built
	@rm -rf .venv .node dist build .mypy_cache .ruff_cache .hypothesis .import_linter_cache
