# SPDX-License-Identifier: GPL-2.0-or-later

$(STAMPS)/corpus-packages: requirements/debian-corpus.txt
	@$(call install_packages,$<)

CORPUS_OPTIONS ?=
# `make corpus PROGRAMS="hmmer seqtk" CORPUS_OPTIONS=--own` runs two programs without guests.
.PHONY: corpus
corpus: build $(STAMPS)/corpus-packages ## Debian's programs, from source to report, in a table (PROGRAMS="…")
	@$(PYTHON) -m bench.corpus.corpus $(CORPUS_OPTIONS) $(PROGRAMS)

CORPUS_LAB_OPTIONS ?=
.PHONY: corpus-lab
corpus-lab: build-bench build-lab ## instructions of the same programs in the lab, after `make corpus` (PROGRAMS="…")
	@$(PYTHON) -m bench.corpus.corpus_lab $(CORPUS_LAB_OPTIONS) $(PROGRAMS)
