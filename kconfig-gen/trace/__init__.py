# SPDX-License-Identifier: GPL-2.0-or-later
"""From the kernel code that ran to the configuration symbols that guard it.

    asmlog      addresses of the instructions that QEMU translated
    lines       their functions and source lines, inlined ones too
    guards      #if blocks around a line
    kbuild      makefiles above a compiled file
    lift        from what guards to what somebody can choose
    observed    system calls, socket families and files that the functions tell of
    symbols     all of it together
    own         which of them the program asked for

Pure: logs, vmlinux and source tree in, symbols out. Booting is kadence/tracing.py.
"""
