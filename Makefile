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
CFLAGS_STRICT := -O2 -g -Wall -Wextra -Werror

# What `make build` makes; the folders' build.mk append to it.
BUILD_TARGETS :=

.PHONY: help
help: ## list the targets
	@echo 'make TARGET, where TARGET is one of:'
	@grep -hE '^[a-z0-9.-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9.-]+):.*## (.*)/  \1\t\2/' | sort | expand -t 22

define install_packages
	tools/install-packages $(1)
	@mkdir -p $(@D) && touch $@
endef

$(STAMPS)/packages: requirements/debian.txt
	@$(call install_packages,$<)

$(STAMPS)/test-packages: requirements/debian-test.txt $(STAMPS)/packages
	@$(call install_packages,$<)

$(STAMPS)/python: requirements/python.lock pyproject.toml $(STAMPS)/packages
	@test -x $(PYTHON) || $(SYSTEM_PYTHON) -m venv $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@mkdir -p $(@D) && touch $@

.PHONY: deps
deps: $(STAMPS)/packages $(STAMPS)/python ## install what is needed: Debian packages and the Python environment

.PHONY: test-deps
test-deps: deps $(STAMPS)/test-packages

include $(wildcard */build.mk bench/*.mk tests/*.mk)

# A second make reads the parts anew once the packages they ask the compiler about are there.
.PHONY: build
build: deps ## build the profiler, the compiler plugin, libkadapt and the guest's init
	@$(MAKE) --no-print-directory build-all

.PHONY: build-all
build-all: $(BUILD_TARGETS)

PYTEST := $(PYTHON) -m pytest
# Two at most: each may have a guest of 1 GB and a build of a kernel on all processors.
WORKERS ?= $(shell n=$$(nproc); echo $$((n < 2 ? n : 2)))
SHARED := -n $(WORKERS) --no-loadscope-reorder

.PHONY: test
test: build test-deps ## set up all that is needed, then run every test
	$(PYTEST) $(SHARED) -m 'not full and not torture and not soak' $(PYTEST_ARGUMENTS)

.PHONY: test-full
test-full: build test-deps ## the tests that are too long for `make test`, too
	$(PYTEST) -m 'not torture and not soak' $(PYTEST_ARGUMENTS)

.PHONY: bench
bench: bench-profiler bench-profiler-distance bench-phases bench-view bench-inputs bench-quantum bench-lab bench-io bench-send bench-kernel bench-io-programs bench-memory bench-slurm ## every benchmark

.PHONY: lock
lock: deps ## pin the newest versions of what requirements/python.in names
	@$(SYSTEM_PYTHON) -m venv $(BUILD)/lock && $(BUILD)/lock/bin/pip -q install pip-tools
	@$(BUILD)/lock/bin/pip-compile -q --upgrade --allow-unsafe --generate-hashes --no-header \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		-o requirements/python.lock requirements/python.in

.PHONY: install
install: build ## install below PREFIX (default /usr/local)
	@tools/install "$(DESTDIR)$(PREFIX)"

.PHONY: clean
clean: ## remove what was built (the kernel store in ~/.cache/kadence stays)
	rm -rf $(BUILD) $(VENV) .mypy_cache .ruff_cache .pytest_cache

include tools/lint.mk
