# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses which machine code of a kernel is copied: whole blocks that ran often enough."""

import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from iced_x86 import Code, Decoder, FlowControl, Instruction, Mnemonic, OpKind

from kadence.kadapt.live.symbols import CALL_BYTES, LANDING_PAD_BYTES
from kadence.lab.counts import Block
from kadence.positioned.image import Image

BITS = 64
# Their distances have 8 bits only, or they stand for what went wrong.
NOT_COPIED = {
    Mnemonic.JRCXZ,
    Mnemonic.JECXZ,
    Mnemonic.LOOP,
    Mnemonic.LOOPE,
    Mnemonic.LOOPNE,
    Mnemonic.UD2,
    Mnemonic.INT3,
    Mnemonic.XBEGIN,
}
# The kernel changes these as a whole (__x86_*), or finds them by their addresses.
SPECIAL = ("__x86_", "asm_", "klp_", "ftrace_", "return_to_handler", "__SCT__", "ret_from_fork")
# Programs of BPF may change what these return, and must see every call. The first name is from
# kernel/bpf/verifier.c; the others are in the sets that register_btf_fmodret_id_set() gets.
GUARDED = ("security_", "bpf_", "__bpf_", "update_socket_protocol")


class Ran:
    """How often the instruction at an address ran."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        changes: dict[int, int] = defaultdict(int)
        for block in blocks:
            changes[block.address] += sum(block.counts)
            changes[block.address + block.bytes] -= sum(block.counts)
        self._addresses = sorted(changes)
        self._counts: list[int] = []
        count = 0
        for address in self._addresses:
            count += changes[address]
            self._counts.append(count)

    def times(self, address: int) -> int:
        """How often the instruction at this address ran."""
        number = bisect.bisect_right(self._addresses, address) - 1
        return self._counts[number] if number >= 0 else 0

    def stretches(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Address, bytes and times of all code in this range."""
        for address, after, times in zip(
            self._addresses, self._addresses[1:], self._counts, strict=False
        ):
            if times and begin <= address < end:
                yield address, after - address, times

    def fewest(self, begin: int, end: int, share: float) -> int:
        """The most times such that code that ran as often has this share of all executed bytes."""
        stretches = sorted(self.stretches(begin, end), key=lambda each: -each[2])
        wanted = share * sum(size * times for _, size, times in stretches)
        for _, size, times in stretches:
            wanted -= size * times
            if wanted <= 0:
                return times
        return 1


class Piece(NamedTuple):
    """One instruction, or a site of alternatives, whose instructions are no piece of their own."""

    address: int
    bytes: int
    instruction: Instruction | None


@dataclass(frozen=True)
class Function:
    """What is copied of a function."""

    address: int
    name: str
    pieces: tuple[Piece, ...]
    head: int | None  # where its first instruction is, if that is copied

    @property
    def bytes(self) -> int:
        """Of the machine code that is copied."""
        return sum(piece.bytes for piece in self.pieces)


Functions = Mapping[int, Function]  # by address


def branch_target(instruction: Instruction) -> int | None:
    """Where a direct jump or call goes; None if this is none."""
    if instruction.op_count and instruction.op0_kind == OpKind.NEAR_BRANCH64:
        return instruction.near_branch_target
    return None


def select(image: Image, ran: Ran, traced: frozenset[int], fewest: int) -> dict[int, Function]:
    """The functions with blocks that ran at least so often, in the order of addresses."""
    symbols = image.symbols
    hot = {
        symbols.function_at(address)
        for address, _, times in ran.stretches(symbols.begin, symbols.end)
        if times >= fewest
    }
    found: dict[int, Function] = {}
    for address in sorted(hot - {0}):
        name = symbols.functions[address]
        if _can_be_copied(image, address, name):
            function = _function(image, ran, address, traced, fewest)
            if function.pieces:
                found[address] = function
    return found


def _can_be_copied(image: Image, address: int, name: str) -> bool:
    return not name.startswith((*SPECIAL, *GUARDED)) and not image.symbols.besides_tasks(address)


def _function(
    image: Image, ran: Ran, address: int, traced: frozenset[int], fewest: int
) -> Function:
    begin = _behind_the_tracers_call(image, address, traced)
    pieces = [
        piece
        for block in _blocks(image, address, begin)
        if ran.times(block[0].address) >= fewest and all(_is_plain(image, each) for each in block)
        for piece in block
    ]
    head = begin if pieces and pieces[0].address == begin else None
    return Function(address, image.symbols.functions[address], tuple(pieces), head)


def _behind_the_tracers_call(image: Image, address: int, traced: frozenset[int]) -> int:
    """Where the function goes on behind endbr64 and the call of the tracer, if it has them."""
    first = next(iter(_decoded(image, address, address + LANDING_PAD_BYTES)), None)
    if first is not None and first.mnemonic == Mnemonic.ENDBR64:
        address += LANDING_PAD_BYTES
    return address + CALL_BYTES if address in traced else address


def _decoded(image: Image, begin: int, end: int) -> list[Instruction]:
    return list(Decoder(BITS, image.read(begin, end - begin), ip=begin))


def _pieces(image: Image, begin: int, end: int) -> list[Piece]:
    found: list[Piece] = []
    behind = begin  # the last site
    for instruction in _decoded(image, begin, end):
        address = instruction.ip
        if address < behind:
            continue
        if address in image.alternatives:
            size = max(each.bytes for each in image.alternatives[address])
            found.append(Piece(address, size, None))
            behind = address + size
        else:
            found.append(Piece(address, instruction.len, instruction))
    return found


def _blocks(image: Image, function: int, begin: int) -> list[list[Piece]]:
    """The function's pieces, in blocks that are entered at their first piece only."""
    pieces = _pieces(image, begin, image.symbols.end_of(function))
    entered = _targets(image, pieces)
    blocks: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.address in entered and blocks[-1]:
            blocks.append([])
        blocks[-1].append(piece)
        if _ends_a_block(piece):
            blocks.append([])
    return [block for block in blocks if block]


def _ends_a_block(piece: Piece) -> bool:
    instruction = piece.instruction
    return instruction is not None and instruction.flow_control != FlowControl.NEXT


def _is_plain(image: Image, piece: Piece) -> bool:
    """Whether a copy of the piece does the same. A constant that the kernel sets may not."""
    inside = range(piece.address, piece.address + piece.bytes)
    if any(place in image.constants for place in inside):
        return False
    instruction = piece.instruction
    if instruction is None:
        return not any(_is_changed_otherwise(image, piece.address, place) for place in inside)
    return instruction.code != Code.INVALID and instruction.mnemonic not in NOT_COPIED


def _is_changed_otherwise(image: Image, site: int, place: int) -> bool:
    """Whether another table than that of alternatives names an instruction of a site."""
    if place in image.exceptions:
        return place != site
    tables = (image.returns, image.thunks, image.labels, image.static_calls)
    return any(place in table for table in tables)


def goes_to(image: Image, function: Function) -> set[int]:
    """The functions to which the copied code jumps, and those that it calls directly."""
    targets = _targets(image, function.pieces)
    return {image.symbols.function_at(target) for target in targets} - {0}


def _targets(image: Image, pieces: Iterable[Piece]) -> set[int]:
    """Where direct jumps and calls of these pieces go, those that the kernel switches, too."""
    found: set[int | None] = set()
    for piece in pieces:
        if piece.instruction is not None:
            found.add(branch_target(piece.instruction))
        if piece.address in image.labels:
            found.add(image.labels[piece.address].target)
    return {target for target in found if target is not None}
