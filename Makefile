# The two commands to know: `make demo` and `make test`. Every verb makes what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := CMakeLists.txt $(wildcard src/linsep/kernels/*.cpp src/linsep/kernels/*/*.?pp building/*.py)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: ablate mutants fuzz duel faults linref sanitize cluster-demo cluster-tests cluster-kills help demo test peers-suite check compat bench docs site pictures lab release clean

help:
	@echo "make demo    learn to read handwritten digits, and show the work"
	@echo "make lab     place points, run learners on them, watch every step"
	@echo "make test    run all tests"
	@echo "make peers-suite  scikit-learn's own tests of the five shared classes, against linsep"
	@echo "make sanitize  tests of the kernels under address and undefined-behaviour sanitizers"
	@echo "make linref  digits right on certified problems, side by side with the installed peers"
	@echo "make faults  every operation of every writer fails once, then every allocation; a thousand kills"
	@echo "make check   lint, format, types, import contracts"
	@echo "make duel    the verifier against linsep, true and tampered certificates; COUNT=500 data sets"
	@echo "make fuzz    readers against inputs that nobody meant; SECONDS=300"
	@echo "make mutants small changes to what must not err: does a test notice each? MUTANTS=40"
	@echo "make compat  smoke tests on the oldest and the newest versions supported"
	@echo "make docs    build the pages, every warning an error"
	@echo "make site    the pages with films, sliders, notebooks and lab sessions, tried in Chromium"
	@echo "make pictures  draw the pictures of the pages anew"
	@echo "make release   build wheel and sources, try the wheel in an environment of its own"
	@echo "make cluster-demo  a fit on a local cluster, a worker killed in the middle, the same bytes"
	@echo "make bench   speed and memory, side by side with peers; ONLY=cluster runs one part"
	@echo "make ablate  what each line of the table of solvers and each part earns, an hour or so"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml $(KERNELS)
	@echo "Setting up (once): fetching libraries and compiling the kernels, one to three minutes ..."
	@$(PIP) --upgrade pip
	@$(BIN)/python building/install.py '.[plot]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml $(KERNELS)
	@echo "Setting up (once): fetching libraries and tools, compiling the kernels, one to three minutes ..."
	@$(PIP) --upgrade pip
	@$(BIN)/python building/install.py '.[io,plot,images,lab]' --group dev
	@touch $(VENV)/.demo $(VENV)/.lab $@

demo: $(VENV)/.demo
	@$(BIN)/linsep demo

test: $(VENV)/.dev
	@$(BIN)/pytest -n auto --dist loadfile

peers-suite: $(VENV)/.dev
	@cd tests && ../$(BIN)/python -m peers_suite

# The kernels under the address and undefined-behaviour sanitizers: what reads or writes where it
# must not ends the tests.
sanitize: $(VENV)/.dev
	@$(BIN)/python building/sanitize.py $(TESTS)

# One kind of problem: make linref ONLY=logistic; every layout of linsep: ONLY=--layouts
linref: $(VENV)/.dev
	@cd tests && ../$(BIN)/python -m linref $(ONLY)

# The independent verifier and linsep's own checks, on thousands of true and tampered certificates.
COUNT ?= 500
duel: $(VENV)/.dev
	@$(BIN)/python tests/proofs/exported/duel.py $(COUNT)

# Some minutes for the disks, as many for the kills; fewer: KILLS=100. ALLOCATIONS of each kind of run.
KILLS ?= 1000
ALLOCATIONS ?= 20
faults: $(VENV)/.dev
	@LINSEP_FAULTS=all $(BIN)/pytest -q tests/faults tests/data/files tests/views/cli/test_io_failures.py
	@cd tests && ../$(BIN)/python -m faults.allocations $(ALLOCATIONS)
	@cd tests && ../$(BIN)/python -m faults.kills $(KILLS)

# Every reader against inputs that nobody meant; what is found lies in out/fuzz. TARGETS="csv model"
# Where atheris can be had, half of the time coverage leads; the parser of lines runs under sanitizers.
SECONDS ?= 300
fuzz: $(VENV)/.dev
	-@$(PIP) --group fuzz
	@cd tests && ../$(BIN)/python -m fuzz $(SECONDS) $(TARGETS)

# Small changes to loader, certificates, verifier, guard and driver: is each noticed by a test?
# So many of each are drawn; some seconds each. What survives: tests/mutants/survivors.txt
MUTANTS ?= 40
mutants: $(VENV)/.dev
	@cd tests && ../$(BIN)/python -m mutants $(MUTANTS) $(TARGETS)

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

ablate: $(VENV)/.dev
	@$(PIP) --group bench
	@$(BIN)/python -m benchmarks.ablate

bench: $(VENV)/.dev $(VENV)/peers/.made
	@$(PIP) --group bench
	@$(BIN)/python -m benchmarks $(ONLY)

docs: $(VENV)/.dev
	@$(PIP) --group docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The pages are in docs/_build/html/index.html"

# The same folder serves from a disk and from any server of files: both are tried.
site: docs
	@LINSEP_SITE=docs/_build/html $(BIN)/pytest -q tests/browser/test_site.py
	@echo "The site is the folder docs/_build/html"

pictures: $(VENV)/.dev
	@$(BIN)/python docs/pictures/make.py
	@$(BIN)/python -m docs.pictures.lab
	@$(BIN)/python docs/pictures/lectures.py
	@$(BIN)/python -m docs.pictures.lecture_figures
	@$(BIN)/python -m docs.pictures.solver_map
	@$(BIN)/python docs/pictures/experiments.py
	@$(BIN)/python -m benchmarks.grid.picture docs/pictures/grid.json docs/pictures

# The wheel is tried where neither sources nor a compiler are: what it lacks is found out here.
# Then the sources are built where no compiler is, by the one from the package index.
release: $(BIN)/python
	@rm -rf dist $(VENV)/release $(VENV)/bare
	@$(PIP) build
	@$(BIN)/python -m build --config-setting=cmake.define.LINSEP_RELEASE=ON --outdir dist .
	@$(PYTHON) -m venv $(VENV)/release
	@$(VENV)/release/bin/python -m pip install --quiet --disable-pip-version-check \
		"$$(ls dist/*.whl)" pytest pytest-timeout hypothesis pandas matplotlib
	@cp -r tests/compat $(VENV)/release/smoke
	@cd $(VENV)/release/smoke && PATH="$$PWD/../bin" ../bin/python -m pytest -q -p no:cacheprovider test_smoke.py
	@cd $(VENV)/release && PATH="$$PWD/bin" && linsep fit iris -q && linsep logic "x1 & x2"
	@$(PYTHON) -m venv $(VENV)/bare
	@echo "Building the sources without a compiler of this machine ..."
	@cd $(VENV)/bare && PATH="$$PWD/bin" python -m pip install --disable-pip-version-check \
		"$$(echo ../../dist/*.tar.gz)"
	@cd $(VENV)/bare && PATH="$$PWD/bin" linsep fit iris -q
	@echo "dist/ holds what can be released; CONTRIBUTING.md has the checklist."

$(VENV)/.lab: $(VENV)/.demo
	@$(BIN)/python building/install.py '.[plot,lab]'
	@touch $@

lab: $(VENV)/.lab
	@$(BIN)/linsep lab

clean:
	rm -rf $(VENV) out build dist
