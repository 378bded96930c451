# make demo           create the environment, build, and check a real model
# make studio         build the page of the studio; needs Node.js
# make test-studio    the page and the server of the studio, in a browser too where Chromium is installed
# make test           run all tests, two at a time: make test WORKERS=8 TESTS=tests/cli
# make test-fast      a few cases of every test, in less than two minutes
# make test-mpi       the tests of MPI ranks, with Debian's MPI and PETSc, which it installs
# make test-lowest    the fast tests with the oldest versions of what Galton needs
# make fuzz           random models against exact values: make fuzz SECONDS=180 SEED=1 JOBS=2
# make lint types     style, spelling and types
# make docs           the site, in build/docs; needs no network
# make wheel          a source archive and wheels for the Pythons that are here, in dist; needs Node.js
# make test-wheel     install that wheel where there is no compiler, and use it
# make format-core    the C++ core in the style that make lint asks for
# make tidy           look for mistakes in the C++ core (clang-tidy; minutes)
# make sanitize       its tests under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer
# make sanitize-quick a few of them
# make bench-classic  Jacobi's method against BiCGStab
# make bench-explore  build models beside Storm and compare
# make bench-graph    time each operation of the graph analysis
# make bench-check    the same from the file to the answer; needs the corpus
# make bench-long-run long-run answers of large CTMCs
# make bench-timed    time bounds of CTMCs, backward and forward
# make bench-stiff    time bounds of stiff CTMCs, beside Storm
# make bench-curves   a thousand values of a bound beside the last of them
# make bench-exact    exact answers beside the exact engine of Storm
# make bench-synth    parameter synthesis beside PRISM-PSY; needs its runs
# make bench-gpu      from the file to the answer on a CUDA device
# make vscode         package the extension for VS Code: build/galton.vsix; needs npm
# make clean          remove what was built

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
BUILT  := $(VENV)/.built
TOOLS  := $(VENV)/.tools
CORE   := $(wildcard src/core/*.* src/core/*/*)
INSTALL := $(BIN)/python tools/progress_of_pip.py install

.PHONY: demo test test-fast test-lowest test-mpi lint types bench-explore bench-graph bench-check bench-long-run bench-ltl bench-timed bench-stiff bench-curves bench-exact bench-synth bench-gpu clean

# The package in place: Python files are used where they are; the C++ core is rebuilt when it changes.
$(BUILT): pyproject.toml CMakeLists.txt $(CORE)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable .
	touch $@

# The same with what tests and linters need besides.
$(TOOLS): pyproject.toml CMakeLists.txt $(CORE)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable '.[dev]'
	touch $(BUILT) $@

demo: $(BUILT)
	$(BIN)/galton info models/herman.prism --const N=11
	@echo
	$(BIN)/galton check models/die.prism --prop 'P=? [ F d=6 ]'
	$(BIN)/galton check models/consensus.prism --const N=4,K=2 --prop 'Pmin=? [ F "finished" & "all_heads" ]'

# The page is built into the package, which wheels ship. The lock file says which libraries it is made of.
PAGE := src/galton/studio/static/index.html
.PHONY: studio
studio: $(PAGE)
$(PAGE): $(shell find studio -not -path '*/node_modules*' -not -path '*/tests/*' -type f)
	cd studio && npm ci --no-audit --no-fund && npm run build
	touch $@

.PHONY: test-studio
test-studio: $(TOOLS) $(PAGE)
	cd studio && npm ci --no-audit --no-fund && npm run lint && npm test
	$(BIN)/python -m pytest tests/studio tests/studio_browser

# Workers take tests from each other, so that none waits while others have some left.
WORKERS  ?= 2
PARALLEL := --numprocesses $(WORKERS) --dist worksteal
test: $(TOOLS)
	$(BIN)/python -m pytest $(PARALLEL) $(TESTS)

test-fast: $(TOOLS)
	$(BIN)/python -m pytest $(PARALLEL) --fast $(TESTS)

# An environment of its own, with the lowest versions that pyproject.toml allows.
LOWEST := .venv-lowest
test-lowest:
	test -d $(LOWEST) || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --reinstall-package galton '.[plot,test]'
	$(LOWEST)/bin/python -m pytest $(PARALLEL) --fast $(TESTS)

# An environment of its own, of Debian's Python, which sees Debian's mpi4py and petsc4py: these want NumPy below 2.
MPI          := .venv-mpi
MPI_PACKAGES := python3-petsc4py-64-real python3-mpi4py openmpi-bin python3-venv python3-dev
$(MPI)/.built: pyproject.toml CMakeLists.txt $(CORE)
	dpkg -s $(MPI_PACKAGES) > /dev/null 2>&1 || { apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(MPI_PACKAGES); }
	test -d $(MPI) || /usr/bin/python3 -m venv --system-site-packages $(MPI)
	$(MPI)/bin/python -m pip install --quiet --disable-pip-version-check 'numpy>=1.26,<2' 'pytest>=8' \
		--config-settings=build-dir=build/mpi --editable .
	touch $@

# The other tests' conftest.py needs what they need.
test-mpi: $(MPI)/.built
	$(MPI)/bin/python -m pytest --noconftest tests/mpi $(ARGS)

SECONDS ?= 180
SEED    ?= 1
JOBS    ?= 1
.PHONY: fuzz
fuzz: $(TOOLS)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) --jobs $(JOBS) $(ARGS)

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell
	$(BIN)/clang-format --dry-run --Werror $(CORE)

.PHONY: format-core tidy sanitize sanitize-quick
format-core: $(TOOLS)
	$(BIN)/clang-format -i $(CORE)

# clang-tidy needs to know how files are compiled, not that they have been.
tidy: $(TOOLS)
	$(BIN)/cmake -S . -B build/tidy -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja --log-level=WARNING \
		-DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
	printf '%s\n' $(filter %.cpp,$(CORE)) | xargs -n 1 -P $$(nproc) $(BIN)/clang-tidy --quiet -p build/tidy

sanitize: $(TOOLS)
	$(BIN)/python -m tests.sanitize $(ARGS)

sanitize-quick: $(TOOLS)
	$(BIN)/python -m tests.sanitize --quick $(ARGS)

types: $(TOOLS)
	$(BIN)/mypy

# Warnings are errors; the notebooks are run, unless they are as they were.
.PHONY: docs
docs: $(TOOLS)
	$(BIN)/sphinx-build --builder html --fail-on-warning --keep-going --quiet --jobs auto \
		--doctree-dir build/docs-trees docs build/docs
	@echo "open build/docs/index.html"

# PYTHONS="python3.11 python3.12" builds for these.
.PHONY: wheel test-wheel
wheel: $(TOOLS) $(PAGE)
	$(BIN)/python tools/wheels.py $(PYTHONS)

test-wheel:
	$(PYTHON) tools/try_wheel.py $(or $(PYTHONS),$(PYTHON))

.PHONY: bench-classic
bench-classic: $(BUILT)
	$(BIN)/python bench/classic.py $(ARGS)

bench-explore: $(TOOLS)
	$(BIN)/python bench/explore.py $(ARGS)

bench-graph: $(TOOLS)
	$(BIN)/python bench/graph.py $(ARGS)
bench-check: $(TOOLS)
	$(BIN)/python bench/check.py $(ARGS)

bench-long-run: $(TOOLS)
	$(BIN)/python bench/long_run.py $(ARGS)

bench-ltl: $(TOOLS)
	$(BIN)/python bench/ltl.py $(ARGS)

bench-timed: $(BUILT)
	$(BIN)/python bench/timed.py $(ARGS)

bench-stiff: $(BUILT)
	$(BIN)/python bench/stiff.py $(ARGS)

bench-curves: $(BUILT)
	$(BIN)/python bench/curves.py $(ARGS)

bench-exact: $(TOOLS)
	$(BIN)/python bench/exact.py $(ARGS)

bench-synth: $(TOOLS)
	$(BIN)/python bench/synth.py $(ARGS)

bench-gpu: $(TOOLS)
	$(BIN)/python bench/gpu.py $(ARGS)

# Versions are those of package.json, each of them exact.
.PHONY: vscode
vscode:
	mkdir -p build
	cp LICENSE editors/vscode/LICENSE
	cd editors/vscode && npm install --no-package-lock --no-audit --no-fund --loglevel=error && npm run --silent package

clean:
	rm -rf $(VENV) $(LOWEST) $(MPI) build dist src/galton/_core*.so src/galton/studio/static studio/node_modules
	rm -rf editors/vscode/node_modules editors/vscode/out
