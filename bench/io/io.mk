# SPDX-License-Identifier: GPL-2.0-or-later

# ONLY=EXPRESSION chooses records by place and size, as in ONLY='file|tcp.*256'.
.PHONY: bench-io
bench-io: build-bench ## records of 16 to 1,024 bytes to files, pipes and sockets, by rings, batches and other ways
	$(PYTHON) -m bench.io.io_records $(if $(ONLY),--only '$(ONLY)')

# ONLY=EXPRESSION chooses programs by name.
.PHONY: bench-io-programs
bench-io-programs: build-bench ## whole programs through I/O paths: heat, ring and minimap2, plain beside adapted
	$(PYTHON) -m bench.io.io_programs $(if $(ONLY),--only '$(ONLY)')

# ONLY=EXPRESSION chooses programs by name.
.PHONY: bench-paying
bench-paying: build-bench build-lab $(STAMPS)/corpus-packages ## whole programs that write small records to files, in the lab: plain beside adapted
	$(PYTHON) -m bench.io.paying $(if $(ONLY),--only '$(ONLY)')
