# SPDX-License-Identifier: GPL-2.0-or-later
"""The units that the bench installs: variants that only call their originals."""

from dataclasses import dataclass

from kadence.base.errors import KadenceError
from kadence.kadapt.live.symbols import Symbols

HEAD = "#include <kadence/unit.h>\n#include <linux/mm.h>\n#include <linux/sched/task.h>\n"
VARIANT = """
KADENCE_REPLACES({name}, {result}, {parameters})
{{
	return KADENCE_ORIGINAL({name})({arguments});
}}
"""
SYSTEM_CALL = ("long", "const struct pt_regs *registers", "registers")


@dataclass(frozen=True)
class Function:
    """A function of the paper's Table 1, and its overhead there in percent."""

    operation: str  # of calls.c
    name: str
    paper_percent: float
    result: str
    parameters: str
    arguments: str

    @property
    def variant(self) -> str:
        """The variant's source."""
        return VARIANT.format(
            name=self.name,
            result=self.result,
            parameters=self.parameters,
            arguments=self.arguments,
        )


FAULT = ("vm_fault_t", "struct vm_area_struct *area, unsigned long address, unsigned int flags, "
         "struct pt_regs *registers", "area, address, flags, registers")  # fmt: skip
FORK = ("pid_t", "struct kernel_clone_args *arguments", "arguments")
TABLE_1 = (
    Function("fork", "kernel_clone", 1.71, *FORK),
    Function("brk", "__x64_sys_brk", 43.48, *SYSTEM_CALL),
    Function("execve", "__x64_sys_execve", 1.33, *SYSTEM_CALL),
    Function("open", "__x64_sys_openat", 8.04, *SYSTEM_CALL),
    Function("read", "__x64_sys_read", 1.67, *SYSTEM_CALL),
    Function("write", "__x64_sys_write", 2.00, *SYSTEM_CALL),
    Function("fault", "handle_mm_fault", 5.82, *FAULT),
    Function("kill", "__x64_sys_kill", 43.92, *SYSTEM_CALL),
)
# Functions for large units, which nobody takes, so that their types do not matter.
MANY = "__x64_sys_"


def table_1(end: str) -> str:
    """The source of a unit of all functions of Table 1, for phases or for everybody."""
    return HEAD + "".join(function.variant for function in TABLE_1) + f"\n{end};\n"


def group(count: int, symbols: Symbols) -> str:
    """The source of a unit of so many functions."""
    names = [name for name in symbols.beginning(MANY) if _has(symbols, name)]
    variants = "".join(Function("", name, 0, *SYSTEM_CALL).variant for name in names[:count])
    if len(names) < count:
        raise KadenceError(f"this kernel lets only {len(names)} of these functions be replaced")
    return HEAD + variants + "\nKADENCE_UNIT;\n"


def _has(symbols: Symbols, name: str) -> bool:
    try:
        symbols.original(name)
    except KadenceError:
        return False
    return True
