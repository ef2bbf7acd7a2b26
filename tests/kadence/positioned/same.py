# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares copies with their originals as both are in a running kernel, instruction by instruction.

Both were changed for the processor by then. The instructions must be the same, and go on at the
same places: a place in a copy counts as the place in the original to which it leads back.
"""

import bisect
import struct
from dataclasses import dataclass
from pathlib import Path

from iced_x86 import ConditionCode, Decoder, FlowControl, Instruction, Mnemonic, OpKind

RUN = struct.Struct("<II")
# A call of a function goes on in the copy behind what the tracer needs.
BEFORE_HEADS = (0, 4, 5, 9)


@dataclass(frozen=True)
class Memory:
    """A range of memory."""

    begin: int
    content: bytes

    @classmethod
    def of(cls, folder: Path, name: str) -> "Memory":
        """What dump.py wrote."""
        [file] = folder.glob(f"{name}.*")
        return cls(int(file.suffix[1:], 16), file.read_bytes())

    def has(self, address: int) -> bool:
        """Whether the address lies in this range."""
        return self.begin <= address < self.begin + len(self.content)

    def decode(self, begin: int, size: int) -> list[Instruction]:
        """The instructions there; the last one may end behind them.

        The kernel fills what a shorter jump leaves with int3, so these do not count.
        """
        offset = begin - self.begin
        found = []
        for instruction in Decoder(64, self.content[offset : offset + size + 16], ip=begin):
            if instruction.ip >= begin + size:
                break
            if instruction.mnemonic != Mnemonic.INT3:
                found.append(instruction)
        return found

    def read(self, instruction: Instruction) -> bytes:
        """An instruction's bytes."""
        offset = instruction.ip - self.begin
        return self.content[offset : offset + instruction.len]


class Copies:
    """The copies and the originals."""

    def __init__(self, folder: Path) -> None:
        self.text, self.code = Memory.of(folder, "_stext"), Memory.of(folder, "kadence_code")
        runs = list(RUN.iter_unpack(Memory.of(folder, "kadence_runs").content))
        self.copies = [self.code.begin + copy for copy, _ in runs]
        self.originals = [self.text.begin + original for _, original in runs]
        self.compared = 0

    def leads_to(self, address: int) -> set[int]:
        """Where the originals of a place in a copy are; other places stay.

        A copy has no jump to the code that follows, so its place is that of two originals.
        """
        if not self.code.has(address):
            return {address}
        last = bisect.bisect_right(self.copies, address)
        first = bisect.bisect_left(self.copies, self.copies[last - 1])
        return {
            self.originals[number] + address - self.copies[number] for number in range(first, last)
        }

    def differences(self) -> list[str]:
        """Each difference."""
        found = []
        ends = [*self.copies[1:], self.code.begin + len(self.code.content)]
        for copy, original, end in zip(self.copies, self.originals, ends, strict=True):
            # Two runs begin at one place where a jump to the next one was left out.
            if copy == end and not self._goes_on_there(original, end):
                found.append(f"{original:x} was left out")
            found += self._compare(copy, original, end)
        return found

    def _compare(self, copy: int, original: int, end: int) -> list[str]:
        ours = self.code.decode(copy, end - copy)
        theirs = self.text.decode(original, 15 * len(ours) or 1)
        # Added, because what follows was not copied; or the original's own.
        if len(ours) == 1 and original in self.leads_to(_target(ours[0]) or 0):
            return []
        different = []
        for one, other in zip(ours, theirs, strict=False):
            self.compared += 1
            if not self._same(one, other):
                different.append(f"{other.ip:x}: {one} for {other}")
        if ours and not _stops(ours[-1]):
            behind = theirs[len(ours) - 1].next_ip
            if not self._goes_on_there(behind, end):
                different.append(f"{behind:x} does not follow at {end:x}")
        return different

    def _goes_on_there(self, original: int, copy: int) -> bool:
        """Whether the copy here goes on as the original there, past a jump that was left out."""
        there = {self.originals[number] for number, at in enumerate(self.copies) if at == copy}
        [instruction] = self.text.decode(original, 1)
        return original in there or _target(instruction) in there

    def _same(self, one: Instruction, other: Instruction) -> bool:
        target = _target(other)
        if target is not None:
            ours = self.leads_to(_target(one) or 0)
            same = one.flow_control == other.flow_control and _condition(one) == _condition(other)
            return same and any(each - target in BEFORE_HEADS for each in ours)
        if one.mnemonic == Mnemonic.NOP == other.mnemonic:
            return True  # a jump that the kernel switches may have two bytes, or five
        if one.is_ip_rel_memory_operand:
            return (one.code, one.ip_rel_memory_address) == (
                other.code,
                other.ip_rel_memory_address,
            )
        return self.code.read(one) == self.text.read(other)


def _target(instruction: Instruction) -> int | None:
    if instruction.op_count and instruction.op0_kind == OpKind.NEAR_BRANCH64:
        return instruction.near_branch_target
    return None


def _condition(instruction: Instruction) -> int:
    return instruction.condition_code or ConditionCode.NONE


def _stops(instruction: Instruction) -> bool:
    return instruction.flow_control in (
        FlowControl.UNCONDITIONAL_BRANCH,
        FlowControl.INDIRECT_BRANCH,
        FlowControl.RETURN,
        FlowControl.EXCEPTION,
        FlowControl.INTERRUPT,
    )
