# SPDX-License-Identifier: GPL-2.0-or-later
# One target a language; `make lint` runs all of them.

C_SOURCES = $(shell git ls-files '*.c' '*.h' '*.cc' '*.cpp' '*.hpp' ':!kadapt/driver' ':!kadapt/live' ':!kadapt/uapi')
SHELL_SOURCES = $(shell git ls-files | xargs grep -lE '^\#!(/usr)?/bin/(env )?(ba|da)?sh' 2>/dev/null)
KERNEL_SOURCES = $(shell git ls-files 'kadapt/driver/*.[chS]' 'kadapt/live/*.c' 'kadapt/uapi/*.h')
UNIT_HEADERS = $(shell git ls-files 'kadapt/live/*.h')

.PHONY: lint
lint: build test-deps lint-python lint-c lint-shell lint-kernel lint-licences lint-prose lint-structure ## run every linter

.PHONY: lint-python
lint-python:
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	tools/typecheck

.PHONY: lint-c
lint-c:
	clang-format --dry-run --Werror $(C_SOURCES)

.PHONY: lint-shell
lint-shell:
	shellcheck -x $(SHELL_SOURCES)

.PHONY: lint-kernel
lint-kernel:
	tools/checkpatch $(KERNEL_SOURCES)
	@# A macro that declares a function more than once repeats its type.
	tools/checkpatch --ignore MACRO_ARG_REUSE $(UNIT_HEADERS)
	tools/sparse 6.12 6.1

.PHONY: lint-licences
lint-licences:
	tools/check-licences

PROSE = $(shell git ls-files \
	':!LICENSES' ':!docs/results' ':!requirements' ':!kconfig-gen/patches')

.PHONY: lint-prose
lint-prose:
	@tools/prose $(PROSE)

# The manual of the interface, and tables of test cases, may be longer than other files.
LONG = kadapt/uapi/kadapt.h tests/kadapt/io tests/kadapt/selftest tests/kadence/test_kadence_report.py \
	tests/phases/compare/test_phases_compare.py tests/slurm/test_slurm_bundle.py
SIZED = $(shell git ls-files '*.py' '*.c' '*.h' '*.cc' '*.js' '*.md' ':!docs/results' $(LONG:%=':!%'))

.PHONY: lint-structure
lint-structure:
	tools/directions
	@tools/sizes $(SIZED)
