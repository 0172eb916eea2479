# `make lab` sets up, trains the first model and draws its gallery; `make test` sets up and checks everything.
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
	$(BIN)/glassformer figures --open

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
	$(BIN)/python benchmarks/figures.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
