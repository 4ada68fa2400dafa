# wakeplace: `make` shows what there is. Everything here is a line that you could type yourself.

.DEFAULT_GOAL := help
.PHONY: help demo build test lint check lab fidelity bench install clean
.PHONY: live-test live-unit soak bench-live fuzz mutants nightly same-runs python playground site dist release

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: ## from nothing to a table: energy of a phone board, two placement policies compared
	@scripts/setup.sh
	cargo run --locked --release --bin wakeplace -- study run energy-aware/energy-hikey960

build: ## the release build of everything
	@scripts/setup.sh
	cargo build --locked --release $$(scripts/packages.sh)

test: lint ## everything that must hold: lint, then all tests, with a count at the end
	@cargo xtask test

lint: ## formatting and clippy, warnings being errors (LINT=formatting: the first only)
	@scripts/setup.sh lint
	cargo fmt --all --check
	$(if $(filter formatting,$(LINT)),,cargo clippy --locked $$(scripts/packages.sh) --all-targets -- -D warnings)

check: ## this repository's own rules: style, dependency arrows, licences, generated files
	@scripts/setup.sh
	cargo xtask check

lab: ## what runs in the lab's guests, for x86-64 and arm64, into target/lab
	@scripts/setup.sh
	@cargo xtask programs

fidelity: lab ## docs/results/fidelity.md and truth.md: placement beside the kernel's own (35 minutes of emulation on two CPUs)
	cargo xtask fidelity --jobs 2 --timeout 90m --keep target/fidelity --page
	cargo xtask truth --from target/fidelity
	rm -r target/fidelity
	cargo xtask fidelity --recorded --page

live-test: lab build ## the live scheduler in emulated machines (LIVE_QUICK=1: shorter)
	@cargo xtask live-tests

live-unit: lab build ## ... as a service, where systemd is the first process
	@cargo xtask live-unit

soak: lab build ## ... under mixed load for half an hour (SOAK_MINUTES=N)
	@cargo xtask soak

same-runs: ## a list of runs happens as scripts/same-runs.txt has them (docs/internals/checks.md; RECORD=1: write it anew)
	@scripts/setup.sh
	cargo build --locked --package wakeplace-cli
	@cargo xtask same-runs $(if $(RECORD),--record,--compare) scripts/same-runs.txt

bench: ## how many simulated events a second (WAKEPLACE_BENCH_QUICK=1: a short look)
	@scripts/setup.sh
	cargo bench --locked -p wakeplace-engine --bench engine
	cargo build --locked --release -p wakeplace-cli
	@cargo xtask bench target/release/wakeplace

bench-live: lab build ## what a wake-up costs, in instructions, beside the kernel's scheduler and others
	@cargo xtask live-cost

fuzz: ## changed inputs, from the file to every output, guided by coverage (FUZZ_SECONDS=N each, 60)
	@scripts/setup.sh
	@cargo xtask fuzz $${FUZZ_SECONDS:-60}

mutants: ## break core and engine in small ways and list what no test sees (MUTANTS=N of the core, 300)
	@scripts/setup.sh bpf
	cargo xtask mutants --count $${MUTANTS:-300}
	@cargo xtask mutants-engine

nightly: ## everything that .ci/run has no time for, each part with its seconds (NIGHTLY_SCALE=N)
	@scripts/setup.sh
	@cargo xtask nightly

playground: ## the simulator as one page for browsers, target/playground/index.html
	@scripts/setup.sh
	@cargo xtask playground

site: ## documents and playground as one folder for any static host, target/site
	@scripts/setup.sh
	@cargo xtask build-site

python: ## the wheel for Python into dist/, and its tests (PYTEST=ARGUMENTS of pytest)
	@scripts/setup.sh
	@cargo xtask python

dist: ## what can be given away, into dist/: archives, Debian packages, crates, sums (ARCHS=x86_64)
	@scripts/setup.sh
	@cargo xtask dist $(ARCHS)

release: ## commits and tags a release (DRY_RUN=1: only checks, and says what it would do)
	@scripts/setup.sh
	@cargo xtask release $(if $(DRY_RUN),--dry-run)

install: ## `wakeplace`, its loader of objects and `scx_wakeplace` into cargo's folder of programs
	@scripts/setup.sh bpf
	cargo install --locked --path crates/cli
	cargo install --locked --path crates/bpf-load
	cargo install --locked --path crates/scx

clean: ## remove what was built
	cargo clean
