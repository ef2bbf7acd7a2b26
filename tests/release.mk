# SPDX-License-Identifier: GPL-2.0-or-later
# Other systems and compilers, each system in a root file system of its own. Debian's mmdebstrap and
# some 4 GB of packages are fetched; SYSTEMS="debian-13" chooses.

SYSTEMS ?= debian-12 debian-13 debian-next

$(STAMPS)/release-packages: requirements/debian-release.txt
	@$(call install_packages,$<)

.PHONY: test-release
test-release: $(STAMPS)/release-packages ## Kadence on other systems and with other compilers (an hour; SYSTEMS="debian-13")
	@tests/release/try $(SYSTEMS)
