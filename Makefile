# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := src tests benchmarks examples docs

.PHONY: demo test lint types check bench pictures clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

# what a user needs: no PyTorch, no test tools
$(VENV)/.user: pyproject.toml | $(BIN)/python
	@echo "installing mimik into $(VENV)"
	$(PIP) -e ".[studio]"
	touch $@

# what a developer needs
$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "installing mimik with the tools of its developers into $(VENV)"
	$(PIP) -e ".[dev]"
	touch $@ $(VENV)/.user

demo: $(VENV)/.user
	$(BIN)/mimik demo

test: lint types check

lint: $(VENV)/.dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(VENV)/.dev
	$(BIN)/mypy

check: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --durations=10

bench: $(VENV)/.dev
	$(BIN)/mimik bench

pictures: $(VENV)/.user
	$(BIN)/python docs/make_pictures.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
