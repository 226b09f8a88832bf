# make course   set up, build the book, release, grade a demonstration class
# make test     set up, run the tests
# make test-long   the tests that take minutes: kills, clusters, browsers
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: course test test-long book lint clean

course: $(READY)
	$(VENV)/bin/course demo --class _build/demo-class
	$(VENV)/bin/course book

test: $(READY)
	$(VENV)/bin/python -m pytest -n 2 --dist loadgroup -m "not long"

test-long: $(READY)
	$(VENV)/bin/python -m pytest -n 2 --dist loadgroup -m long

book: $(READY)
	$(VENV)/bin/course book

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

clean:
	rm -rf _build

$(READY): requirements.txt requirements-data.txt constraints.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-data.txt
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
