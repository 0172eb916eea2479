# `make lab` sets up and trains the first model; `make test` sets up and checks everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: setup lab test lint format benchmark clean

setup: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[analysis,video,test]'
	touch $(READY)

lab: $(READY)
	$(BIN)/glassformer train plus_last_even

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(READY) lint
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Ratios against PyTorch, in one run on this machine; takes some minutes.
benchmark: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '.[benchmark]'
	$(BIN)/python benchmarks/training_speed.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
