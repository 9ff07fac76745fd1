# What `make demo` replays, on which drive, how worn in, and where the result goes.
DEMO_TRACE ?= examples/traces/pgbench.csv.zst
DEMO_DRIVE ?= examples/drives/demo.toml
DEMO_OPTIONS ?= --prefill steady-uniform
DEMO_OUT ?= out/demo
# FULL=1 runs the long benchmarks.
FULL ?=
# What `make papers-docs` reads.
OUT ?= out/papers
# CHECK=1 only measures the stand-ins.
CHECK ?=
# BRIEF=1 tries the benchmark of sweeps in a minute.
BRIEF ?=
# KEEP=1 keeps what was measured: instructions per request, figures of benchmarks.
KEEP ?=
# How long `make fuzz` runs, over all targets.
N ?= 200
SEED ?= 1
SECONDS ?= 60
# How many inputs `make properties` draws for each property.
CASES ?= 10000
# How the binding is compiled: `dev`, as the Rust tests are, takes much less time than `release` and runs slower.
PROFILE ?= release

PYTHON ?= python3
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
VENV := .venv
BIN := $(VENV)/bin
# Stamps live in the environment: whoever deletes it starts anew.
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# What is missing is named in one line, before anything else happens.
ifneq ($(filter demo test test-ray figures bench bench-sweeps lint,$(MAKECMDGOALS)),)
ifeq ($(shell command -v cargo),)
$(error ninescope needs cargo (a Rust toolchain), and it is not on the PATH)
endif
ifeq ($(shell command -v cc),)
$(error ninescope needs cc (a C compiler), and it is not on the PATH)
endif
ifneq ($(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 10))' 2>/dev/null),True)
$(error ninescope needs python3 of version 3.10 or later; PYTHON=... names another one)
endif
ifneq ($(shell $(PYTHON) -c 'import venv, ensurepip; print(True)' 2>/dev/null),True)
$(error ninescope needs the venv and ensurepip modules of $(PYTHON) (on Debian: the package python3-venv))
endif
endif

# Directories are listed too: a file that is added or removed changes its directory.
NATIVE_SOURCES := $(shell find crates presets -name '*.rs' -o -name '*.toml' -o -type d) \
	Cargo.toml Cargo.lock pyproject.toml

# One file each, declared by the registry of their kind.
POLICIES = $(shell find crates/*/src -path '*/policies/*' -name '*.rs')

# Tests of Python that are done in seconds, of every room.
QUICK_TESTS := $(addprefix tests/python/test_,$(addsuffix .py,architecture words result figures api cli schema \
	compare jobs check tooling truth paper_values))

# The Python that is linted.
LINTED := python tests/python experiments tools

# One interpreter for every build of the binding.
export PYO3_PYTHON := $(abspath $(BIN))/python

# Tests start a thousand processes, each of which would else compile the package anew. `clean` removes what is written.
unexport PYTHONDONTWRITEBYTECODE

# Runs a command and says how long it took.
timed = @echo '$(1)'; began=$$(date +%s); $(1) && echo "== $$(($$(date +%s) - began)) s"

.PHONY: help demo test compiled-tests set-up test-rust test-python test-ray test-perfetto beside-tests figures papers-quick papers-docs papers-drawn papers-report today-docs fio-docs mqsim-docs devices devices-docs bench wheel sdist try-wheel guided instructions bench-cost bench-sweeps check check-rust check-python fmt lint lint-rust lint-python site worlds minimal-worlds stand-ins properties fuzz unsafe deny coverage lock clean
.DEFAULT_GOAL := help

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do \
		printf 'make %-8s %s\n' "$$target" "$$text"; done

demo: $(STAMPS)/native ## Build everything and replay a small trace
	@$(BIN)/ninescope run $(DEMO_TRACE) --drive $(DEMO_DRIVE) $(DEMO_OPTIONS) --out $(DEMO_OUT)

# Two things at a time, so that one works while the other waits: for packages, a linker, the longest of its tests.
PAIRED = @$(MAKE) --no-print-directory --jobs 2 --output-sync=target

test: ## Run all tests
	$(PAIRED) compiled-tests set-up
	$(PAIRED) test-rust test-python

compiled-tests:
	$(call timed,cargo test --workspace --locked --quiet --no-run)

# One after the other: two calls of pip at once would write the same packages.
set-up:
	$(call timed,$(MAKE) --no-print-directory --jobs 1 $(STAMPS)/dev $(STAMPS)/sweep $(STAMPS)/native)

# What tests compile does not ask this make for a place.
test-rust:
	$(call timed,MAKEFLAGS= cargo test --workspace --locked)

test-python: $(STAMPS)/native $(STAMPS)/dev $(STAMPS)/sweep
	@# Files side by side, each in one process: what tests share is in files. Each has a processor, and NumPy starts no
	@# threads that wait for one in a loop.
	$(call timed,MAKEFLAGS= NINESCOPE_NATIVE=required OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n auto --dist loadfile \
		--no-loadscope-reorder tests/python)

test-ray: $(STAMPS)/native $(STAMPS)/dev $(STAMPS)/ray ## Run the tests of sweeps on Ray
	NINESCOPE_NATIVE=required $(BIN)/pytest -q tests/python/test_ray.py

test-perfetto: $(STAMPS)/native $(STAMPS)/dev $(STAMPS)/perfetto ## Run the test that Perfetto reads timelines
	NINESCOPE_NATIVE=required $(BIN)/pytest -q tests/python/test_perfetto.py

figures: demo ## Renew what README.md and docs/ show of the demo
	@$(BIN)/python tools/renew_readme.py $(DEMO_OUT)

papers-quick: $(STAMPS)/native ## Keep what quick runs with seeds 1, 2 and 3 say in experiments/quick.toml; their outputs are in OUT
	@for seed in 1 2 3; do $(BIN)/ninescope papers run all --quick --seed $$seed --out $(OUT)/quick-$$seed || [ $$? = 1 ] || exit; done
	@$(BIN)/python tools/quick_verdicts.py $(OUT)/quick-1 $(OUT)/quick-2 $(OUT)/quick-3

papers-docs: $(STAMPS)/native ## Renew docs/papers from OUT=out/papers, where `papers run all --full --out` wrote
	@$(BIN)/python tools/renew_papers.py $(OUT)

today-docs: $(STAMPS)/native ## Renew docs/papers/today and docs/comparisons from OUT=out/today, where their sweeps wrote
	@$(BIN)/python tools/renew_today.py $(OUT)

fio-docs: $(STAMPS)/dev ## Renew the table of fio's options in docs/jobs.md
	@$(BIN)/python tools/renew_fio_options.py

mqsim-docs: $(STAMPS)/native ## Renew the table of MQSim's settings in docs/importing.md
	@$(BIN)/python tools/renew_mqsim_settings.py

devices-docs: $(STAMPS)/native ## Write docs/validation/devices.md and the sources of those presets from the stored results of calibrations
	@$(BIN)/python tools/renew_devices.py

devices: $(STAMPS)/native ## Calibrate the drives of examples/devices anew (half an hour), and renew presets, results and page
	@$(BIN)/python tools/renew_devices.py --calibrate $(OUT)/devices

papers-drawn: $(STAMPS)/native ## Draw the figures in docs/papers again, after a change of how they look
	@$(BIN)/python tools/renew_papers.py --drawn

papers-report: $(STAMPS)/native ## Build one HTML file out of docs/papers: out/papers.html
	@$(BIN)/python tools/renew_papers.py --report out/papers.html

stand-ins: $(STAMPS)/dev ## Build presets/profiles from published statistics (CHECK=1 measures them as they are)
	@$(BIN)/python tools/stand_ins $(if $(CHECK),--check)

bench: ## Measure the engine (FULL=1 for the long ones; KEEP=1 keeps the figures in docs/benchmarks, by version)
	FULL=$(FULL) BENCH_FILE=$(if $(KEEP),$(abspath docs/benchmarks/$(VERSION).json)) cargo bench -p ninescope --bench engine --locked
	cargo bench -p ninescope-check --bench check --locked

# What is staged is taken away again: the tools that look at the package would see every experiment twice.
staged = $(BIN)/python tools/packaging/stage.py && { PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin $(1) --out dist; done=$$?; \
	rm -rf python/ninescope/shipped; exit $$done; }

# A wheel for this machine, or with TARGET for another: `x86_64-unknown-linux-gnu` and `aarch64-unknown-linux-gnu` are linked
# by zig against an old enough C library (manylinux 2.17), and need `rustup target add`.
wheel: $(STAMPS)/base ## Build a wheel into dist/ (TARGET=aarch64-unknown-linux-gnu for another machine)
	$(if $(TARGET),@$(PIP) install ziglang)
	$(call staged,build --locked $(if $(TARGET),--target $(TARGET) --zig --compatibility manylinux2014))

sdist: $(STAMPS)/base ## Pack the sources into dist/, of which pip builds a wheel
	$(call staged,sdist)

try-wheel: ## Install the newest wheel of dist/ into a fresh environment, and go from nothing to a figure
	@$(PYTHON) tools/packaging/try_wheel.py $$(ls -t dist/*$$(uname -m).whl | head -1)

guided: $(STAMPS)/native ## Build the binding again, guided by what its runs do most (needs llvm-profdata)
	@tools/guided.sh

instructions: ## Count instructions per request of small runs, against those that are kept (KEEP=1 keeps them)
	@MAKEFLAGS= KEEP=$(KEEP) $(PYTHON) tools/instructions.py

bench-cost: $(STAMPS)/native ## Measure how the cost of a request grows, and renew docs/performance.md
	@$(BIN)/python tools/bench_cost.py

bench-sweeps: $(STAMPS)/native $(STAMPS)/sweep ## Measure how sweeps scale, and renew docs/scaling.md (BRIEF=1 only tries it)
	@$(BIN)/python tools/bench_sweeps $(if $(BRIEF),--brief)

# Everything that is quick: what is left is what takes long (worlds, mutations, whole simulations, papers, fuzzing).
check: $(STAMPS)/native $(STAMPS)/dev ## Say most of what `make test` and `make lint` say, without what takes long
	$(PAIRED) check-rust check-python

check-rust:
	cargo fmt --all --check
	rustfmt --check --edition 2024 $(POLICIES)
	$(call timed,cargo test --workspace --locked --quiet --lib --test ninescope)

check-python:
	$(BIN)/ruff check --quiet python tests/python
	$(call timed,$(BIN)/mypy --strict python/ninescope)
	$(call timed,NINESCOPE_NATIVE=required $(BIN)/pytest -q -n auto --dist loadfile $(QUICK_TESTS))

fmt: $(STAMPS)/dev ## Format everything
	cargo fmt --all
	rustfmt --edition 2024 $(POLICIES)
	$(BIN)/ruff format --quiet $(LINTED)

# Clippy beside the checks of Python, each for the most part on one processor.
lint: $(STAMPS)/native $(STAMPS)/dev ## Check format, lints and types
	$(PAIRED) lint-rust lint-python

# What continuous integration asks besides `make test`. Instructions first: they are the longest, wait for no compiler as
# long as clippy has not begun, and counting them is not disturbed by it.
beside-tests: $(STAMPS)/native $(STAMPS)/dev $(STAMPS)/docs
	$(PAIRED) instructions lint-python site lint-rust unsafe deny

lint-rust:
	cargo fmt --all --check
	@# Modules that a registry declares, which cargo fmt does not see.
	rustfmt --check --edition 2024 $(POLICIES)
	MAKEFLAGS= cargo clippy --workspace --all-targets --locked -- -D warnings

lint-python:
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/mypy --strict python/ninescope
	@# Folder by folder: their files share names.
	for folder in experiments/*/; do MYPYPATH=python:$$folder $(BIN)/mypy --strict $${folder}*.py || exit; done
	MYPYPATH=tools/stand_ins $(BIN)/mypy --strict tools/stand_ins
	$(BIN)/mypy --strict tools/packaging
	MYPYPATH=tools/site:python $(BIN)/mypy --strict tools/site
	MYPYPATH=tools/bench_sweeps:python $(BIN)/mypy --strict tools/bench_sweeps
	MYPYPATH=python $(BIN)/python -m mypy.stubtest ninescope._native

site: $(STAMPS)/native $(STAMPS)/docs ## Build the documentation as a site: out/site/html
	$(call timed,$(BIN)/python tools/site)

worlds: ## Hunt in N=200 random worlds from SEED=1 on
	@cargo run --release --quiet --locked -p ninescope-check --bin worlds -- \
		--count $(N) --seed $(SEED) --table out/worlds/marks.md

minimal-worlds: ## Find and write the smallest world for each mark that has none
	@cargo run --release --quiet --locked -p ninescope-check --bin worlds -- \
		--minimal crates/check/worlds/marks --count 2000

properties: ## Try the properties of the tests with CASES=10000 random inputs each
	PROPTEST_CASES=$(CASES) cargo test --release --locked -p ninescope-model -p ninescope-media -p ninescope-ecc \
		-p ninescope-ftl -p ninescope-tier -p ninescope-traces -p ninescope-generators -p ninescope-engine

fuzz: ## Fuzz everything that reads input, for SECONDS=60 in all
	@tools/fuzz.sh $(SECONDS)

unsafe: ## Run the tests of the unsafe code under miri, valgrind and the address sanitizer
	@MAKEFLAGS= tools/unsafe.sh

deny: ## Check licences, sources and duplicates of all dependencies
	@tools/deny.sh

coverage: ## Report which lines the Rust tests reach, in out/coverage
	@tools/coverage.sh

lock: ## Renew the Python locks (needs uv on the PATH)
	cd requirements && for name in base dev sweep ray perfetto; do \
		uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.10 \
			--custom-compile-command 'make lock' $$name.in --output-file $$name.lock || exit; done
	cd requirements && uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
		--custom-compile-command 'make lock' docs.in --output-file docs.lock

clean: ## Remove everything that was built
	rm -rf $(VENV) out target .mypy_cache .ruff_cache .pytest_cache
	find python tests -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/ninescope/_native*.so

$(STAMPS)/venv:
	$(PYTHON) -m venv --clear $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/base: requirements/base.lock | $(STAMPS)/venv
	$(PIP) install --require-hashes -r requirements/base.lock
	@touch $@

$(STAMPS)/dev: requirements/dev.lock | $(STAMPS)/base
	$(PIP) install --require-hashes -r requirements/dev.lock
	@touch $@

$(STAMPS)/sweep: requirements/sweep.lock | $(STAMPS)/base
	$(PIP) install --require-hashes -r requirements/sweep.lock
	@touch $@

$(STAMPS)/docs: requirements/docs.lock | $(STAMPS)/base
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11) and "the site needs Python 3.11 or later")'
	$(PIP) install --require-hashes -r requirements/docs.lock
	@touch $@

$(STAMPS)/perfetto: requirements/perfetto.lock | $(STAMPS)/base
	$(PIP) install --require-hashes -r requirements/perfetto.lock
	@touch $@

$(STAMPS)/ray: requirements/ray.lock | $(STAMPS)/base
	$(PIP) install --require-hashes -r requirements/ray.lock
	@touch $@

# The stamp takes the time at which the build began, so that a source saved meanwhile is built next time.
$(STAMPS)/native: $(NATIVE_SOURCES) | $(STAMPS)/base
	@touch $@.began
	@echo 'building the engine (minutes for the first time, seconds after that)'
	@PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin develop --profile $(PROFILE) --locked --quiet
	@mv $@.began $@
