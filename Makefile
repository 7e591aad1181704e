PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test check docs format audit clean
.DEFAULT_GOAL := demo

# The demo: FTF-ER on the bundled data set, then the same beside the lower and the upper bound; figures and a page in runs/.
demo: $(INSTALLED)
	$(BIN)/evergraph run --dataset digits --method ftf-er-det --seed 0 --resume
	$(BIN)/evergraph run --dataset digits --method finetune,ftf-er-det,ftf-er-prob,joint --seed 0 --resume
	$(BIN)/evergraph report runs --out runs/report.html

# The whole test suite; one thread a worker, because the workers are as many as the cores.
test: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -q

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

# The documentation as a site that opens from disk: site/index.html. The variable silences an advertisement.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

# The pinned versions beside the database of known vulnerabilities; a version that cannot be looked up is a failure.
audit:
	test -x .audit/bin/pip-audit || ($(PYTHON) -m venv .audit && .audit/bin/python -m pip install --quiet pip-audit)
	.audit/bin/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

clean:
	rm -rf $(VENV) .audit runs site .mypy_cache .ruff_cache .pytest_cache .hypothesis
