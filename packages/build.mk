# SPDX-License-Identifier: GPL-2.0-or-later
# Packages for this system's release of Debian, and a wheel of the Python part.

$(STAMPS)/package-packages: requirements/debian-packages.txt \
		$(wildcard requirements/$(SYSTEM)-packages.txt) $(STAMPS)/packages
	@$(call install_packages,$(filter %.txt,$^))

.PHONY: packages
packages: $(STAMPS)/package-packages $(STAMPS)/python ## .deb packages for this system, and a wheel, in build/packages
	@packages/build

# What packages compile; there, the Python environment is not built.
.PHONY: compiled
compiled:
	$(call make_parts,$(BUILD_TARGETS) $(LAB_TARGETS) $(SLURM_TARGETS))

# For machines that cannot build modules. SIGN_KEY= and SIGN_CERTIFICATE= (PEM) sign them.
.PHONY: driver-package
driver-package: $(STAMPS)/package-packages ## a .deb with the driver built for the kernel RELEASE=
	@packages/driver '$(RELEASE)' '$(KADAPT_HEADERS)' $(if $(SIGN_KEY),'$(SIGN_KEY)' '$(SIGN_CERTIFICATE)')
