PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALLED := $(VENV)/.installed
CONSTRAINTS ?= constraints.txt
TESTS ?=
CHROMIUM ?= chromium --headless --no-sandbox
LOWEST := .venv-lowest
BARE := .venv-without-torch

.PHONY: demo test check docs results format audit package package-empty lowest without-torch coverage clean
.DEFAULT_GOAL := demo

# The demo: FTF-ER on the bundled data set, then the same beside the lower and the upper bound; figures and a page in runs/.
demo: $(INSTALLED)
	$(BIN)/evergraph run --dataset digits --method ftf-er-det --seed 0 --resume
	$(BIN)/evergraph run --dataset digits --method finetune,ftf-er-det,ftf-er-prob,joint --seed 0 --resume
	$(BIN)/evergraph report runs --out runs/report.html

# The whole test suite; one thread a worker, because the workers are as many as the cores.
test: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -q $(TESTS)

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

# The documentation as a site that opens from disk: site/index.html. The variable silences an advertisement.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# What is written from the records in results/: tables, the page of results and its picture, which needs Chromium.
PAGE := $(foreach name,whole-amazon whole-coauthor whole-cora whole-digits whole-arxiv patents patents-random \
	blurry inductive-amazon methods-amazon methods-coauthor methods-cora methods-digits arxiv learners,results/$(name).json)
results: $(INSTALLED)
	$(BIN)/python -m evergraph.paper.reproducibility REPRODUCIBILITY.md results
	$(BIN)/python -m evergraph.paper.reproducibility docs/whole-graph.md results
	$(BIN)/python tools/result_tables.py
	$(BIN)/evergraph report $(PAGE) --out docs/report.html
	$(CHROMIUM) --hide-scrollbars --window-size=1280,900 --virtual-time-budget=8000 --screenshot=docs/report.png docs/report.html

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS)) --editable ".[dev]"
	touch $@

# The pinned versions beside the database of known vulnerabilities; a version that cannot be looked up is a failure.
audit:
	test -x .audit/bin/pip-audit || ($(PYTHON) -m venv .audit && .audit/bin/python -m pip install --quiet pip-audit)
	.audit/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

# Sdist and wheel in dist/, checked; the demo runs from the wheel, outside of the repository.
package: $(INSTALLED)
	$(BIN)/python tools/package.py

# The same, but with a wheel and all that it needs installed anew from the index, as it is for who installs it first.
package-empty: $(INSTALLED)
	$(BIN)/python tools/package.py --empty

# The tests with the lowest versions that pyproject.toml declares; of torch, the pinned one. Older test clients of
# FastAPI want httpx.
lowest:
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tools/lowest.py
	$(LOWEST)/bin/python -m pip install --quiet --constraint constraints-lowest.txt $(shell grep '^torch==' constraints.txt) httpx --editable ".[dev]"
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n auto -q $(TESTS)

# Every command where torch is not installed: it works, or says what is missing.
without-torch:
	$(PYTHON) -m venv --clear $(BARE)
	$(BARE)/bin/python -m pip install --quiet --requirement requirements-without-torch.txt
	$(BARE)/bin/python -m pip install --quiet --no-deps .
	$(BARE)/bin/python tools/without_torch.py

# Which lines and branches the tests reach, in all their processes.
coverage: $(INSTALLED)
	rm -rf .coverage
	mkdir .coverage
	OMP_NUM_THREADS=1 $(BIN)/python -m coverage run -m pytest -n auto -q $(TESTS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage json --quiet -o .coverage/report.json
	$(BIN)/python tools/covered.py .coverage/report.json

clean:
	rm -rf $(VENV) $(LOWEST) $(BARE) .coverage .audit build dist runs site .mypy_cache .ruff_cache .pytest_cache .hypothesis
