# The two commands to know: `make demo` and `make test`. Every verb makes what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: cluster-demo cluster-tests cluster-kills help demo test peers-suite check compat bench docs pictures lab release clean

help:
	@echo "make demo    learn to read handwritten digits, and show the work"
	@echo "make lab     place points, run learners on them, watch every step"
	@echo "make test    run all tests"
	@echo "make peers-suite  scikit-learn's own tests of the five shared classes, against linsep"
	@echo "make check   lint, format, types, import contracts"
	@echo "make compat  smoke tests on the oldest and the newest versions supported"
	@echo "make docs    build the pages, every warning an error"
	@echo "make pictures  draw the pictures of the pages anew"
	@echo "make release   build wheel and sources, try the wheel in an environment of its own"
	@echo "make cluster-demo  a fit on a local cluster, a worker killed in the middle, the same bytes"
	@echo "make bench   speed and memory, side by side with peers; ONLY=cluster runs one part"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	@echo "Setting up (once) ..."
	@$(PIP) --upgrade pip
	@$(PIP) --editable '.[plot]'
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	@echo "Setting up the tools for tests and checks (once) ..."
	@$(PIP) --editable '.[io,plot,images,lab]' --group dev
	@touch $@

demo: $(VENV)/.demo
	@$(BIN)/linsep demo

test: $(VENV)/.dev
	@$(BIN)/pytest -n auto --dist loadfile

peers-suite: $(VENV)/.dev
	@cd tests && ../$(BIN)/python -m peers_suite

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

compat:
	@$(PYTHON) tests/compat/environments.py $(VENV)/compat

# The peers live apart: some of them ask for other versions of what linsep uses.
$(VENV)/peers/.made: benchmarks/peers.txt
	@echo "Installing the peers (once) ..."
	@$(PYTHON) -m venv $(VENV)/peers
	@while read -r peer; do \
		$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check $$peer \
		|| echo "$$peer cannot be installed here: left out"; \
	done < benchmarks/peers.txt
	@touch $@

cluster-demo: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.cluster_demo

# All tests on clusters, with those that start clusters of their own.
cluster-tests: $(VENV)/.dev
	@LINSEP_CLUSTER=1 $(BIN)/pytest tests/data/cluster -q

# Sixty workers killed by SIGKILL over all solvers that run on sums; some minutes.
cluster-kills: $(VENV)/.dev
	@$(BIN)/python tests/data/cluster/killing.py 60

bench: $(VENV)/.dev $(VENV)/peers/.made
	@$(PIP) --group bench
	@$(BIN)/python -m benchmarks $(ONLY)

docs: $(VENV)/.dev
	@$(PIP) --group docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The pages are in docs/_build/html/index.html"

pictures: $(VENV)/.dev
	@$(BIN)/python docs/pictures/make.py
	@$(BIN)/python -m docs.pictures.lab
	@$(BIN)/python docs/pictures/lectures.py
	@$(BIN)/python docs/pictures/experiments.py
	@$(BIN)/python -m benchmarks.grid.picture docs/pictures/grid.json docs/pictures

# The wheel is tried where the sources are not: what it lacks is found out here.
release: $(BIN)/python
	@rm -rf dist $(VENV)/release
	@$(PIP) build
	@$(BIN)/python -m build --outdir dist .
	@$(PYTHON) -m venv $(VENV)/release
	@$(VENV)/release/bin/python -m pip install --quiet --disable-pip-version-check \
		"$$(ls dist/*.whl)" pytest pytest-timeout hypothesis pandas matplotlib
	@cp -r tests/compat $(VENV)/release/smoke
	@cd $(VENV)/release/smoke && LINSEP_CACHE=../cache ../bin/python -m pytest -q -p no:cacheprovider test_smoke.py
	@cd $(VENV)/release && export LINSEP_CACHE=cache && bin/linsep fit iris -q \
		&& bin/linsep logic "x1 & x2"
	@echo "dist/ holds what can be released; CONTRIBUTING.md has the checklist."

$(VENV)/.lab: $(VENV)/.demo
	@$(PIP) --editable '.[plot,lab]'
	@touch $@

lab: $(VENV)/.lab
	@$(BIN)/linsep lab

clean:
	rm -rf $(VENV) out build dist
