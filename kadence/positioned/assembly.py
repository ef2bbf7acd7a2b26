# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes copies of machine code as a source for the assembler.

Instructions keep their bytes. Only what depends on the place is written anew: jumps and calls,
addresses relative to the instruction, and absolute addresses. Jumps to code that is copied go to
the copy; all else is named as _stext and an offset. The kernel's tables get rows for the copies, so
that the kernel changes a copy when it loads the module as it changed the original when it started.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from iced_x86 import ConditionCode, Decoder, FlowControl, Instruction

from kadence.base.errors import KadenceError
from kadence.positioned.code import BITS, Function, Functions, Piece, branch_target
from kadence.positioned.image import UNWINDING_BYTES, Image

TEXT = "_stext"
IMAGE = 0xFFFF_FFFF_8000_0000  # the lowest address of the kernel's image
PROCESSORS_END = 0x10_0000  # variables of processors have addresses from 0 on
JUMP_BYTES = 5
JUMP, CALL = 0xE9, 0xE8
NOP = (0x0F, 0x1F, 0x44, 0, 0)
NAMES = "o no b ae e ne be a s ns p np l ge le g"
CONDITIONS = {getattr(ConditionCode, name.upper()): name for name in NAMES.split()}
Rows = list[str]


class Assembly:
    """The source with copies of functions."""

    def __init__(self, image: Image, functions: Functions) -> None:
        self._image = image
        self._copied = {piece.address for each in functions.values() for piece in each.pieces}
        self._heads = {each.address: each.head for each in functions.values()}
        self._text: Rows = []
        self._stubs: Rows = []
        self._replacements: Rows = []
        self._tables: dict[str, Rows] = {}
        self._runs: Rows = []  # of the table by which code.h leads back
        self._same_until = 0  # the copy's distance from the original is the same up to here
        self._unwinding = b""
        self._labels = 0

    def copy(self, function: Function) -> None:
        """Append a function's copy."""
        for piece, after in zip(function.pieces, [*function.pieces[1:], None], strict=True):
            self._text.append(f"{label(piece.address)}:")
            self._mark(piece.address, label(piece.address))
            if piece.address in self._image.exceptions:
                self._put_exception(piece.address)
            goes_on = self._put(piece, after)
            end = piece.address + piece.bytes
            if goes_on and (after is None or after.address != end):
                name = self._new_label()
                self._mark(end, name)
                self._text.append(f"{name}: jmp {self._place(end)}")
                self._same_until = 0

    def stub(self, head: int) -> str:
        """Append the stub that a traced place calls; returns its label.

        It returns into the copy: to jump there would leave one address too many in the processor's
        return predictor, and the predictions of all callers would fail.
        """
        name, back = self._new_label(), self._new_label()
        # At its begin, the stub seems to be called by the original, which is also right.
        self._unwind(name, self._image.unwinding(head))
        self._stubs.append(f"{name}: movq ${label(head)}, (%rsp)")
        thunk = self._address(self._image.symbols["__x86_return_thunk"])
        self._stubs.append(f"{back}: {_jump_exactly(JUMP, thunk)}")
        self._row(".return_sites", f".long {back}-.")
        return name

    def source(self, entries: Mapping[int, str]) -> str:
        """The whole source. `entries` has traced places and the labels of their stubs."""
        end = self._new_label()
        self._unwind(end, bytes(UNWINDING_BYTES))
        tables = dict(self._tables)
        tables[".altinstr_replacement"] = self._replacements
        tables[".rodata"] = [
            *_array("entries", (f".quad {self._address(at)},{to}" for at, to in entries.items())),
            *_array("runs", self._runs),
            *_array("notes", [_bytes(self._image.notes)]),
        ]
        lines = [".globl kadence_code, kadence_code_end"]
        lines += [".text", ".balign 4096", "kadence_code:", *self._text, "kadence_code_end:"]
        lines += [".balign 64", *self._stubs, f"{end}: int3"]
        for name, rows in tables.items():
            lines += [f'.section {name},"{FLAGS.get(name, "a")}"', ".balign 8", *rows]
        return "\n".join(lines) + "\n"

    def _put(self, piece: Piece, after: Piece | None) -> bool:
        """Append a piece; returns whether what follows it may run next."""
        address, instruction = piece.address, piece.instruction
        self._same_until = address + piece.bytes
        if instruction is None:
            self._put_alternatives(piece)
            return True
        if address in self._image.labels:
            self._put_label(address, instruction)
            return True  # even if it jumps now: the key may change
        if address in self._image.locks:
            self._row(".smp_locks", f".long {label(address)}-.")
        target = branch_target(instruction)
        if target is None:
            self._text += self._plain(instruction)
            return instruction.flow_control not in ENDING
        self._put_branch(instruction, target, after)
        return instruction.flow_control != FlowControl.UNCONDITIONAL_BRANCH

    def _put_branch(self, instruction: Instruction, target: int, after: Piece | None) -> None:
        address, flow = instruction.ip, instruction.flow_control
        place = self._place(target)
        if flow == FlowControl.CONDITIONAL_BRANCH:
            self._same_until = 0
            self._text.append(f"j{CONDITIONS[instruction.condition_code]} {place}")
            return
        is_changed = self._put_rows_of_branch(address)
        if flow == FlowControl.CALL or is_changed:
            opcode = CALL if flow == FlowControl.CALL else JUMP
            self._text.append(_jump_exactly(opcode, place))
            return
        self._same_until = 0
        if after is None or place != label(after.address):
            self._text.append(f"jmp {place}")

    def _put_rows_of_branch(self, address: int) -> bool:
        """Rows of tables for a branch; whether the kernel changes its five bytes."""
        image, here = self._image, label(address)
        if address in image.returns:
            self._row(".return_sites", f".long {here}-.")
        if address in image.thunks:
            self._row(".retpoline_sites", f".long {here}-.")
        if address in image.static_calls:
            key = self._address(image.static_calls[address])
            self._row(".static_call_sites", f".long {here}-.,{key}-.")
        return any(address in each for each in (image.returns, image.thunks, image.static_calls))

    def _put_label(self, address: int, instruction: Instruction) -> None:
        """A jump that the kernel switches, or its NOP."""
        target, key = self._image.labels[address]
        if instruction.flow_control == FlowControl.UNCONDITIONAL_BRANCH:
            self._text.append(_jump_exactly(JUMP, self._place(target)))
        else:
            self._text.append(_bytes(NOP))
        row = f".long {label(address)}-.,{self._place(target)}-.\n.quad {self._address(key)}-."
        self._row("__jump_table", row)
        # The original may have two bytes instead of five.
        self._same_until = 0

    def _put_exception(self, address: int) -> None:
        fixup, kind = self._image.exceptions[address]
        row = f".long {label(address)}-.,{self._address(fixup)}-.,{kind}"
        self._row("__ex_table", row)

    def _put_alternatives(self, piece: Piece) -> None:
        """A site with its alternatives. All keep their lengths, because the kernel copies them."""
        self._text += self._exactly(piece.address, piece.bytes)
        for each in self._image.alternatives[piece.address]:
            name = self._new_label()
            self._replacements += [f"{name}:", *self._exactly(each.address, each.own_bytes)]
            row = f".long {label(piece.address)}-.,{name}-.,{each.feature}\n"
            self._row(".altinstructions", row + f".byte {each.bytes},{each.own_bytes}")

    def _exactly(self, begin: int, size: int) -> Iterator[str]:
        """Instructions of a site. Jumps within it keep their bytes."""
        content = self._image.read(begin, size)
        for instruction in Decoder(BITS, content, ip=begin):
            offset = instruction.ip - begin
            own = content[offset : offset + instruction.len]
            target = branch_target(instruction)
            if target is None:
                yield from self._plain(instruction)
            elif begin <= target <= begin + size:
                yield _bytes(own)
            elif instruction.len >= JUMP_BYTES:
                yield _bytes(own[:-4])
                yield f".long {self._place(target)}-4-."
            else:
                raise KadenceError(
                    f"the kernel has a short jump out of alternatives at {begin:x}; report it"
                )

    def _plain(self, instruction: Instruction) -> Iterator[str]:
        """An instruction's bytes, with its addresses for the place where it goes."""
        content = self._image.read(instruction.ip, instruction.len)
        written = 0
        for offset, size, row in sorted(self._addresses_in(instruction, content)):
            if offset > written:
                yield _bytes(content[written:offset])
            yield row
            written = offset + size
        if written < len(content):
            yield _bytes(content[written:])

    def _addresses_in(
        self, instruction: Instruction, content: bytes
    ) -> Iterator[tuple[int, int, str]]:
        """Offset, bytes and row of each address in an instruction."""
        if instruction.is_ip_rel_memory_operand:
            offset = _displacement_offset(instruction, content)
            behind = len(content) - offset
            yield offset, 4, self._relative(instruction.ip_rel_memory_address - behind)
        for offset in range(len(content)):
            place = instruction.ip + offset
            if place in self._image.places.absolute:
                value = self._image.value(place, 4)
                yield offset, 4, f".reloc .,R_X86_64_32S,{self._address(value)}\n.long 0"
            elif place in self._image.places.wide:
                yield offset, 8, f".quad {self._address(self._image.value(place, 8))}"

    def _relative(self, target: int) -> str:
        if target >= IMAGE:
            return f".long {self._address(target)}-."
        if target < PROCESSORS_END:
            return f".long {target}-."
        raise KadenceError(f"the kernel's code refers to {target:x}, which is unknown; report it")

    def _place(self, target: int) -> str:
        """The copy of this code; the code itself if it is not copied."""
        head = self._heads.get(target)
        if head is not None:
            return label(head)
        return label(target) if target in self._copied else self._address(target)

    def _address(self, address: int) -> str:
        return f"{TEXT}{address - self._image.symbols.begin:+d}"

    def _mark(self, original: int, name: str) -> None:
        """Begin code that does what the original at this address does."""
        if original != self._same_until:
            self._runs.append(f".long {name}-kadence_code,{original - self._image.symbols.begin}")
        self._unwind(name, self._image.unwinding(original))

    def _unwind(self, name: str, entry: bytes) -> None:
        if entry != self._unwinding:
            self._row(".orc_unwind_ip", f".long {name}-.")
            self._row(".orc_unwind", _bytes(entry))
            self._unwinding = entry

    def _row(self, table: str, row: str) -> None:
        self._tables.setdefault(table, []).append(row)

    def _new_label(self) -> str:
        self._labels += 1
        return f".Lnew{self._labels}"


ENDING = (FlowControl.RETURN, FlowControl.INDIRECT_BRANCH, FlowControl.EXCEPTION)
FLAGS = {".altinstr_replacement": "ax", "__jump_table": "aw", ".static_call_sites": "aw"}


def label(address: int) -> str:
    """The label of the copy of what is at this address."""
    return f".L{address:x}"


def _jump_exactly(opcode: int, place: str) -> str:
    """A jump or call of five bytes, which the kernel may change."""
    return f".byte {opcode}; .long {place}-4-."


def _bytes(content: Iterable[int]) -> str:
    return ".byte " + ",".join(map(str, content))


def _array(name: str, rows: Iterable[str]) -> Sequence[str]:
    """An array that code.h declares, with its end."""
    names = f"kadence_{name}, kadence_{name}_end"
    return [f".globl {names}", f"kadence_{name}:", *rows, f"kadence_{name}_end:", ".balign 8"]


def _displacement_offset(instruction: Instruction, content: bytes) -> int:
    decoder = Decoder(BITS, content, ip=instruction.ip)
    return decoder.get_constant_offsets(decoder.decode()).displacement_offset
