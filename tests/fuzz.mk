# SPDX-License-Identifier: GPL-2.0-or-later
# Coverage-guided fuzzing of what reads profiles, SimPoint's text, records of trials and plans that
# learned: tests/profiler/fuzz.py.
# Each kind of input for MINUTES, all at the same time; KINDS='stream' chooses. What reached
# something new stays in build/fuzz; `make fuzz-corpus` puts what is needed of it into the corpus that
# the tests replay.

MINUTES ?= 10
KINDS ?= columns ranks stream file vectors records learned
FUZZ := $(BUILD)/fuzz
CORPUS := tests/profiler/corpus
# A profile that takes a gigabyte or 20 s to read out of 4 KiB is an error of the reader's, too.
FUZZ_LIMITS := -max_len=4096 -timeout=20 -rss_limit_mb=1024

$(STAMPS)/fuzz: requirements/fuzz.txt $(STAMPS)/python
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--upgrade --target $(FUZZ)/atheris -r $<
	@touch $@

.PHONY: fuzz
fuzz: build test-deps $(STAMPS)/fuzz ## fuzz the readers of profiles and trials, MINUTES=10 by default
	@status=0; declare -A running; for kind in $(KINDS); do mkdir -p $(FUZZ)/$$kind; \
		PYTHONPATH=$(FUZZ)/atheris $(PYTHON) tests/profiler/fuzz.py $$kind $(FUZZ)/$$kind \
			-max_total_time=$$(( $(MINUTES) * 60 )) $(FUZZ_LIMITS) $(CORPUS)/$$kind \
			>$(FUZZ)/$$kind.log 2>&1 & running[$$kind]=$$!; done; \
	for kind in $(KINDS); do if wait $${running[$$kind]}; \
		then echo "$$kind: nothing found; $$(grep -a DONE $(FUZZ)/$$kind.log)"; \
		else status=1; echo "$$kind: see the end of $(FUZZ)/$$kind.log and $(FUZZ)/$$kind/crash-*"; \
		fi; done; exit $$status

.PHONY: fuzz-corpus
fuzz-corpus: build test-deps ## keep of what fuzzing found what the tests don't reach
	@for kind in $(KINDS); do \
		$(PYTHON) tests/profiler/fuzz_corpus.py $(FUZZ)/$$kind/inputs $(CORPUS)/$$kind $$kind; done
