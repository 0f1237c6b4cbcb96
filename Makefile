# `make demo` shows the whole idea once; `make test` is what a change must pass. Both build .venv when it is missing.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help env demo test lint types imports docs docs-check coverage-of-conformance sweep determinism crash cut-streams mutate-requests canaries mutants bfcl bench peers-serve model live clean coverage-of-intervals kill-evaluations ray memory-of-evaluations report-page properties

VENV := .venv
PY := $(VENV)/bin/python
ENV := $(VENV)/.installed
BENCH_VENV := .venv-bench
BENCH_ENV := $(BENCH_VENV)/.installed
RAY_VENV := .venv-ray
RAY_ENV := $(RAY_VENV)/.installed
BFCL_VENV := .venv-bfcl
BFCL_ENV := $(BFCL_VENV)/.installed
# The first interpreter that is new enough; `make PYTHON=/path/to/python3.12` overrides it.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP := -m pip install --quiet --disable-pip-version-check
N ?= 1000
kill-evaluations: N = 100
WORKERS ?= 2

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | column -t -s "$$(printf '\t')" 2>/dev/null \
		|| grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST)

env: $(ENV) ## the environment in .venv, as pyproject.toml and constraints.txt say

# The stamp is older than either file after a change, so that the change is installed.
$(ENV): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or later was found. Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { echo "creating $(VENV) with $(PYTHON)"; rm -rf $(VENV); $(PYTHON) -m venv $(VENV); }
	@echo "installing into $(VENV)"
	@$(PY) $(PIP) --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(ENV) ## the main job end to end: runs, replays, checks, other people's trajectories, a comparison
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" bash docs/demo.sh

test: $(ENV) lint types imports ## everything that a change must pass
	@$(PY) -m compileall -q harness  # many tests begin processes; each would compile it anew
	$(PY) -m pytest -n $(WORKERS)
	$(PY) -m docs.generate --check

lint: $(ENV)
	$(VENV)/bin/ruff check .

types: $(ENV)
	$(VENV)/bin/mypy
	cd docs/ci/comment && $(CURDIR)/$(VENV)/bin/mypy --strict --config-file= --cache-dir=$(CURDIR)/.mypy_cache/comment *.py

imports: $(ENV)
	$(VENV)/bin/lint-imports --no-logo --no-cache

docs: $(ENV) ## write the generated pages anew
	$(PY) -m tests.subjects.card
	$(PY) -m docs.generate

docs-check: $(ENV)
	$(PY) -m docs.generate --check

coverage-of-conformance: $(ENV) ## which test, check or scenario carries which number of the catalogue
	$(PY) -m docs.generate --coverage

determinism: $(ENV) ## same scenario and seed, same bytes, over all scripted and cassette scenarios
	$(PY) tests/laws/determinism.py

properties: $(ENV) ## every property with 500 examples, others each time (`make test` takes 40, always the same)
	HARNESS_PROPERTIES=deep $(PY) -m pytest -q -n $(WORKERS) -m hypothesis

sweep: $(ENV) ## every scripted scenario, cancelled and failed at every boundary and every tick; no red cell
	$(VENV)/bin/harness sweep scenarios --ticks -j $(WORKERS)

mutants: $(ENV) ## every broken loop and trajectory is refused by a check, nothing sound is; which check refuses which
	$(PY) tests/laws/mutants.py

crash: $(ENV) ## kill writers at N random instants, and runs at every write; nothing acknowledged is lost, nothing done twice
	$(PY) tests/laws/crash.py $(N)
	$(PY) tests/laws/resume.py
	HARNESS_LAWS_FULL=1 $(PY) -m pytest -q tests/laws/test_resume.py

kill-evaluations: $(ENV) ## kill evaluations at N random instants and run them again; the same summary, no trial paid twice
	$(PY) tests/laws/kill_evaluations.py $(N)

cut-streams: $(ENV) ## every streamed body, recorded and scripted, cut at every byte; none counts before its finish reason
	$(PY) tests/laws/cut_streams.py

mutate-requests: $(ENV) ## one field of each recorded request changed at a time; each is a miss that names it
	$(PY) tests/laws/mutate_requests.py

canaries: $(ENV) ## 10,000 secrets said by anybody in any spelling; none stands in anything written
	$(PY) tests/laws/canaries.py

# Without what they depend on: all that is asked is the checker, which is pure (benchmarks/bfcl_checker.py).
$(BFCL_ENV): benchmarks/bfcl-requirements.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or later was found. Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(BFCL_VENV)/bin/python -m pip --version >/dev/null 2>&1 || { rm -rf $(BFCL_VENV); $(PYTHON) -m venv $(BFCL_VENV); }
	@$(BFCL_VENV)/bin/python $(PIP) --no-deps --requirement benchmarks/bfcl-requirements.txt
	@touch $@

bfcl: $(ENV) $(BFCL_ENV) ## a public benchmark's own checker and ours on 124,001 answers; every difference has a class
	$(PY) tests/laws/bfcl.py --sample $(BFCL_VENV)/bin/python

coverage-of-intervals: $(ENV) ## intervals hold what they say and gates alarm as seldom as they say, over 240 kinds of evaluation
	$(PY) tests/laws/coverage_of_intervals.py

$(BENCH_ENV): benchmarks/requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or later was found. Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(BENCH_VENV)/bin/python -m pip --version >/dev/null 2>&1 || { rm -rf $(BENCH_VENV); $(PYTHON) -m venv $(BENCH_VENV); }
	@$(BENCH_VENV)/bin/python $(PIP) --requirement benchmarks/requirements.txt --editable .
	@touch $@

$(RAY_ENV): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or later was found. Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(RAY_VENV)/bin/python -m pip --version >/dev/null 2>&1 || { rm -rf $(RAY_VENV); $(PYTHON) -m venv $(RAY_VENV); }
	@$(RAY_VENV)/bin/python $(PIP) --constraint constraints.txt --editable '.[evaluate,ray]'
	@touch $@

ray: $(RAY_ENV) ## an evaluation on a local Ray cluster comes to the same bytes, in an environment of its own
	$(RAY_VENV)/bin/python tests/laws/ray_cluster.py

memory-of-evaluations: $(ENV) ## the peak of memory with 100,000 cases, at most 1.2 times that with 10,000
	$(PY) benchmarks/evaluating.py

report-page: $(ENV) ## the HTML report of 2,000 runs in an installed browser: usable within 2 s, a filter within 100 ms
	$(PY) benchmarks/report_page.py

bench: $(BENCH_ENV) ## the floor, two peers and this loop in one run, in an environment of its own
	$(BENCH_VENV)/bin/python benchmarks/run.py

peers-serve: $(BENCH_ENV) ## pydantic-ai, unchanged, against `harness serve`, in the environment of `make bench`
	$(BENCH_VENV)/bin/python benchmarks/serving.py

model: $(ENV) ## set up the real local model and its server, in an environment of its own
	bash cassettes/local-model/setup.sh

live: $(ENV) ## the loop against the real local model (after `make model`); writes cassettes/local-model/live.json
	$(PY) cassettes/local-model/live.py

clean: ## remove what was generated; environments stay
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist build
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +
