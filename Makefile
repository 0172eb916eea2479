# `make lab` sets up, trains the first model and draws its gallery (EXPERIMENT=mary: another one); `make test` sets up and
# checks everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
EXPERIMENT ?= plus_last_even

.PHONY: setup lab page test lint frontend browser format pictures benchmark docs claims places changelog snapshot sheets clean

setup: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[analysis,video,cluster,test]'
	$(BIN)/python hatch_build.py --needs | \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement /dev/stdin
	touch $(READY)

# The page of the reports, built anew if its sources in frontend/ have changed; with the machine's Node, or PyPI's.
page: $(READY)
	$(BIN)/python hatch_build.py

lab: page
	$(BIN)/glassformer lab $(EXPERIMENT)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The page's own types and tests.
frontend: $(READY)
	$(BIN)/python hatch_build.py check test

test: page
	$(MAKE) --no-print-directory --jobs 2 lint frontend browser
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 3 --dist worksteal

# A browser for tests/test_browser.py: Debian's Chromium, where this machine lets us install it. Never stops the build.
browser:
	@found() { for name in $${GLASSFORMER_BROWSER:-} chromium chromium-browser google-chrome; do \
	    command -v "$$name" >/dev/null 2>&1 && return 0; done; return 1; }; \
	if found; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then root=""; \
	elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then root="sudo -n"; \
	else root="none"; fi; \
	if [ "$$root" != none ] && command -v apt-get >/dev/null 2>&1; then \
	    { $$root apt-get update -qq && \
	      $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
	      >/dev/null 2>&1 || true; \
	fi; \
	found || echo "no browser, so the tests of the page are skipped; install chromium, or name one in GLASSFORMER_BROWSER"

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The pictures of the README, by the code of today; wants a browser for the report.
pictures: $(READY)
	$(BIN)/python docs/pictures/make.py

# Settles what the sources claim, the slow ones, too: an hour or more on two cores. Killed, it goes on where it was, since
# results and trainings are in CLAIMS until the record is written. IDS="S1-01 S1-02" settles only those anew.
# SETTLE="--workers 16" or SETTLE="--scheduler tcp://machine:8786" CLAIMS=FOLDER_ALL_SEE for more workers.
CLAIMS ?= build/claims
claims: $(READY)
	$(BIN)/glassformer claims $(if $(IDS),$(IDS) --again,--all) --out $(CLAIMS) $(SETTLE) > /dev/null
	$(BIN)/glassformer claims --json --markdown docs/claims.md --out $(CLAIMS) > claims.json.part
	mv claims.json.part src/glassformer/claims/settled.json
	rm -rf $(CLAIMS)/settled $(CLAIMS)/runs $(CLAIMS)/studies

# Compares every number of the fixture runs with tests/snapshot/; WRITE=1 writes it anew. Some minutes on two cores.
snapshot: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/snapshot.py $(if $(WRITE),--write)

# All figures of the fixture runs as two commits draw them, side by side: make sheets OLD=v0.2.0 [NEW=main].
sheets: $(READY)
	$(BIN)/python docs/making/contact_sheets.py $(OLD) $(NEW)

# Ratios against PyTorch, in one run on this machine; takes some minutes.
benchmark: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '.[benchmark]'
	$(BIN)/python benchmarks/training_speed.py
	$(BIN)/python benchmarks/figures.py

# The documentation as a site, site/index.html; its gallery trains what it needs, or takes it from RUNS.
docs: $(READY)
	PYTHONPATH=docs $(BIN)/python -m making.site $(if $(RUNS),--runs $(RUNS))

# docs/places.md: where each section of the sources has its place.
places: $(READY)
	PYTHONPATH=docs $(BIN)/python -m making.places

# The notes in changes/ move into CHANGELOG.md, under the version in pyproject.toml.
changelog:
	$(PYTHON) docs/making/changelog.py

clean:
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis frontend/node_modules src/glassformer/web/static
