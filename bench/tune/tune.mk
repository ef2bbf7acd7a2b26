# SPDX-License-Identifier: GPL-2.0-or-later
# PROGRAMS has names of examples and of programs of bench/corpus. TUNE_OPTIONS are for `kadence tune`.
PROGRAMS ?= heat fft lu sqlite3
TUNE_OPTIONS ?= --by processor --all --again --candidates allocator,compiler,program
.PHONY: bench-tune
bench-tune: build $(STAMPS)/corpus-packages ## `kadence tune` on PROGRAMS, with the errors of its predictions
	@$(PYTHON) -m bench.tune.tune $(PROGRAMS) -- $(TUNE_OPTIONS)
