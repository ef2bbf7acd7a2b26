# SPDX-License-Identifier: GPL-2.0-or-later
"""How the kernel's functions pass values: System V ABI for AMD64, section 3.2.3.

The kernel has no floating-point values, so a value goes into integer registers or onto the stack.
"""

from kadence.kadapt.live.btf import Types

REGISTER_BYTES = 8
MOST_ARGUMENTS = 6
MOST_IN_REGISTERS = 16  # bytes; a larger structure is on the stack
# A name with a dot is a part or a special case, whose parameters may be others.
CHANGED = "."


def has_simple_call(types: Types, function: str) -> bool:
    """Whether all arguments are in registers, and the result in one. False if it is not known."""
    prototype = types.prototype(function)
    if prototype is None or CHANGED in function:
        return False
    result, parameters = prototype
    sizes = [types.size(each) if each else None for each in parameters]
    registers = _hidden_parameter(types.size(result))
    for size in sizes:
        if size is None or size > MOST_IN_REGISTERS:
            return False
        registers += -(-size // REGISTER_BYTES)
    in_two = REGISTER_BYTES < types.size(result) <= MOST_IN_REGISTERS
    return registers <= MOST_ARGUMENTS and not in_two


def _hidden_parameter(result_bytes: int) -> int:
    """A large result is written to memory, whose address is one more argument."""
    return 1 if result_bytes > MOST_IN_REGISTERS else 0


def bytes_of_result(types: Types, function: str) -> int:
    """The size of a result that says how many bytes were moved; 0 if it says something else."""
    prototype = types.prototype(function)
    if prototype is None:
        return 0
    result, parameters = prototype
    size = types.size(result)
    if types.is_named(result, "ssize_t"):
        return size
    moves = any(types.is_named(each, name) for each in parameters for name in MOVED)
    is_number = any(types.is_named(result, name) for name in NUMBERS)
    return size if moves and is_number else 0


# What a function gets that moves bytes and returns how many.
MOVED = ("msghdr", "iov_iter")
NUMBERS = ("int", "long int")
