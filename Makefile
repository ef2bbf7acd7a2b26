# SPDX-License-Identifier: GPL-2.0-or-later
# `make help` lists the targets. Each folder adds its own parts through its build.mk.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
BUILD := build
STAMPS := $(BUILD)/stamps
VENV := .venv
PYTHON := $(VENV)/bin/python
# The venv must be Debian's own interpreter, whatever else PATH offers.
SYSTEM_PYTHON := /usr/bin/python3

CC12 := gcc-12
CXX12 := g++-12
FC12 := gfortran-12
# The checkout's place is not in what is built, so all checkouts build the same bytes.
CFLAGS_STRICT := -O2 -g -Wall -Wextra -Werror -ffile-prefix-map=$(CURDIR)=.

SYSTEM := $(shell . /etc/os-release && echo "$$ID-$$VERSION_ID")

# What is built, by who needs it; the folders' build.mk append to these lists. `make build` makes what
# profiling, compiling, building kernels and running take, and no more: the rest is built when somebody
# asks for what uses it. base/parts.toml names the same lists to who misses a file.
BUILD_TARGETS :=
LAB_TARGETS :=
SLURM_TARGETS :=
EXAMPLE_TARGETS :=
BENCH_TARGETS :=

.PHONY: help
help: ## list the targets
	@echo 'make TARGET, where TARGET is one of:'
	@grep -hE '^[a-z0-9.-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9.-]+):.*## (.*)/  \1\t\2/' | sort | expand -t 22

define install_packages
	tools/install-packages $(1)
	@mkdir -p $(@D) && touch $@
endef

# Beside those of every system, the packages of this one, such as requirements/debian-13.txt.
$(STAMPS)/packages: requirements/debian.txt $(wildcard requirements/$(SYSTEM).txt)
	@$(call install_packages,$^)

$(STAMPS)/test-packages: requirements/debian-test.txt $(wildcard requirements/$(SYSTEM)-test.txt) \
		$(STAMPS)/packages
	@$(call install_packages,$(filter %.txt,$^))

# Of the packages' modules few are ever imported; those are compiled then.
PIP_INSTALL := $(PYTHON) -m pip install --quiet --disable-pip-version-check --no-compile

$(STAMPS)/python: requirements/python.lock pyproject.toml $(STAMPS)/packages
	@echo "Python environment: installing $$(grep -c == $<) packages into $(VENV)"
	@test -x $(PYTHON) || $(SYSTEM_PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) --require-hashes -r $<
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@mkdir -p $(@D) && touch $@

$(STAMPS)/checks: requirements/checks.lock $(STAMPS)/python
	@$(PIP_INSTALL) --require-hashes -r $<
	@touch $@

.PHONY: deps
deps: $(STAMPS)/packages $(STAMPS)/python ## install what is needed: Debian packages and the Python environment

.PHONY: test-deps
test-deps: deps $(STAMPS)/test-packages $(STAMPS)/checks

include $(wildcard */build.mk bench/*/*.mk tests/*.mk)

# $(call make_parts,FILES): by a second make, which reads the makefiles again after the packages that
# they ask the compiler about are installed. Without a number of jobs from the caller, it has one job
# per processor and one more, because the first often waits for a package registry.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell echo $$(($$(nproc) + 1))))
define make_parts
	@+$(MAKE) --no-print-directory $(JOBS) parts PARTS='$(1)'
endef

.PHONY: parts
parts: $(PARTS)

.PHONY: build
build: $(STAMPS)/packages ## what profiling, compiling, building kernels and running need
	$(call make_parts,$(STAMPS)/python $(BUILD_TARGETS))

.PHONY: build-lab
build-lab: build ## what `kadence lab` and `kadence kernel diff --measure` need
	$(call make_parts,$(LAB_TARGETS))

.PHONY: build-slurm
build-slurm: build ## Slurm's plugin and the nodes' tool
	$(call make_parts,$(SLURM_TARGETS))

.PHONY: build-examples
build-examples: build ## the examples, built without any help of ours
	$(call make_parts,$(EXAMPLE_TARGETS))

.PHONY: build-bench
build-bench: build ## the programs of the benchmarks, the lab's and the examples
	$(call make_parts,$(LAB_TARGETS) $(EXAMPLE_TARGETS) $(BENCH_TARGETS))

.PHONY: build-all
build-all: build-bench build-slurm ## all of that

PYTEST := $(PYTHON) -m pytest
# Two at most: each may have a guest of 1 GB and a build of a kernel on all processors.
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 2 ? n : 2)))
SHARED := -n $(WORKERS) --no-loadscope-reorder

.PHONY: test
test: build-all test-deps ## set up all that is needed, then run every test
	$(PYTEST) $(SHARED) -m 'not full and not torture and not soak' $(PYTEST_ARGUMENTS)

.PHONY: test-full
test-full: build-all test-deps ## the tests that are too long for `make test`, too
	$(PYTEST) -m 'not torture and not soak' $(PYTEST_ARGUMENTS)

.PHONY: bench
bench: bench-profiler bench-profiler-distance bench-phases bench-view bench-inputs bench-quantum bench-slices bench-lab bench-io bench-send bench-kernel bench-io-programs bench-paying bench-memory bench-layout bench-slurm ## every benchmark

.PHONY: lock
lock: deps ## pin the newest versions of what requirements/*.in name
	@$(SYSTEM_PYTHON) -m venv $(BUILD)/lock && $(BUILD)/lock/bin/pip -q install pip-tools
	@for file in python checks; do $(BUILD)/lock/bin/pip-compile -q --upgrade --allow-unsafe \
		--generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host -o requirements/$$file.lock requirements/$$file.in; done

.PHONY: install
install: build build-lab build-slurm ## install below PREFIX (default /usr/local)
	@tools/install "$(DESTDIR)$(PREFIX)"
	@$(SYSTEM_PYTHON) -m compileall -q "$(DESTDIR)$(PREFIX)/lib/kadence"
	@echo "Installed: $(PREFIX)/bin/kadence"

.PHONY: clean
clean: ## remove what was built (the kernel store in ~/.cache/kadence stays)
	rm -rf $(BUILD) $(VENV) .mypy_cache .ruff_cache .pytest_cache

include tools/lint.mk
