# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program will take on a kernel, from its profile and the kernel's prices."""
