# SPDX-License-Identifier: GPL-2.0-or-later

# NODES and TASKS change the size, as in NODES=16 TASKS=100.
.PHONY: bench-slurm
bench-slurm: build-slurm test-deps ## cost of a bundle for a Slurm job, on a cluster of 64 nodes (root)
	$(PYTHON) -m bench.slurm.slurm $(if $(NODES),--nodes $(NODES)) $(if $(TASKS),--tasks $(TASKS))
