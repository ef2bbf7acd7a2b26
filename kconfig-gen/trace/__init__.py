# SPDX-License-Identifier: GPL-2.0-or-later
"""From the kernel code that ran to the configuration symbols that guard it.

    asmlog      addresses of the instructions that QEMU translated
    lines       their functions and source lines, inlined ones too
    guards      #if blocks around a line
    kbuild      makefiles above a compiled file
    lift        from symbols that guard code to symbols that can be requested
    observed    system calls, socket families and files, found from the functions
    symbols     all of the above together
    own         which symbols the program asked for

Pure: logs, vmlinux and source tree in, symbols out. kadence/kernel/tracing.py boots the kernel.
"""
