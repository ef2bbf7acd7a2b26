# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of a running kernel's hot code: the same as their originals, and left by all tasks."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from iced_x86 import Decoder

from kadence import boot
from kadence.base.errors import KadenceError, UsageError
from kadence.boot import debian, qemu
from kadence.lab.counts import Block, Cache, Counted, Edge
from kadence.live.build import build
from kadence.live.kernel import kallsyms_of
from kadence.positioned import counting, making, module
from kadence.positioned.code import Function, Piece, Ran
from kadence.positioned.counting import Kernel
from kadence.positioned.image import Image, Kallsyms
from kadence.positioned.layout import Layout, lay_out, reachable

HERE = Path(__file__).resolve().parent / "positioned"
sys.path.insert(0, str(HERE))

from same import Copies  # noqa: E402

RING = ("3", "5", "50", "1000")
SUM = r"c2536935d71dc556"  # of ring's nodes with these arguments, on any kernel
SLEEP = "schedule_timeout"


def block(address: int, size: int, *counts: int) -> Block:
    return Block(address, size, 1, "falls", 0, counts)


def test_times_are_those_of_all_blocks_that_overlap() -> None:
    ran = Ran([block(100, 10, 5, 1), block(104, 6, 3), block(200, 2, 0)])
    assert [ran.times(at) for at in (99, 100, 103, 104, 109, 110, 200)] == [0, 6, 6, 9, 9, 0, 0]
    assert list(ran.stretches(0, 1000)) == [(100, 4, 6), (104, 6, 9)]


def test_the_hottest_code_has_the_wanted_share() -> None:
    ran = Ran([block(0, 10, 100), block(10, 10, 9), block(20, 1, 1)])
    # 1,000, 90 and 1 bytes were executed.
    assert ran.fewest(0, 100, 0.90) == 100
    assert ran.fewest(0, 100, 0.95) == 9
    assert ran.fewest(0, 100, 1.0) == 1
    assert ran.fewest(50, 100, 0.99) == 1


K = 0xFFFFFFFF81000000
CALL, JUMP, NOP, RETURN = b"\xe8", b"\xe9", b"\x90", b"\xc3"


def to(opcode: bytes, at: int, target: int) -> bytes:
    return opcode + (target - at - 5).to_bytes(4, "little", signed=True)


def function(address: int, name: str, content: bytes) -> Function:
    decoded = Decoder(64, content, ip=address)
    pieces = tuple(Piece(each.ip, each.len, each) for each in decoded)
    return Function(address, name, pieces, address)


def test_what_an_endless_loop_calls_needs_an_entry() -> None:
    """Nobody calls the loop, so its copy never runs; the caller's copy calls the leaf's."""
    loop, work, caller, leaf = (K + 0x1000 * number for number in range(4))
    body = 200 * NOP + RETURN
    made = [
        function(loop, "loop", to(CALL, loop, work) + to(JUMP, loop + 5, loop)),
        function(work, "work", body),
        function(caller, "caller", to(CALL, caller, leaf) + body),
        function(leaf, "leaf", body),
    ]
    lines = [f"{each.address:x} t {each.name}" for each in made]
    symbols = Kallsyms([f"{K:x} T _stext", f"{K + 0x4000:x} T _etext", *lines])
    image: Any = SimpleNamespace(labels={}, symbols=symbols)
    counted = Counted(
        blocks=[
            Block(loop, 5, 1, "calls", work, (100,)),
            Block(caller, 5, 1, "calls", leaf, (50,)),
        ],
        edges=[
            Edge(loop, 5, work, (100,)),
            Edge(caller, 5, leaf, (50,)),
            Edge(K + 0x9000, 2, caller, (50,)),
        ],
    )
    traced = frozenset(each.address for each in made)
    functions = {each.address: each for each in made}
    used, entered = reachable(Kernel("r", image, traced), functions, counted)
    assert set(entered) == {work, caller}
    assert set(used) == {work, caller, leaf}


def refused(*words: str) -> str:
    kadence = Path(sys.executable).parent / "kadence"
    told = subprocess.run([kadence, "live", "layout", *words], capture_output=True, text=True)
    assert told.returncode and not told.stdout
    assert len(told.stderr.splitlines()) == 1, told.stderr
    return told.stderr


def test_wrong_requests_get_a_sentence(tmp_path: Path) -> None:
    release = debian.newest_release("6.12")
    words = ("--kernel", release, "-o")
    assert "name it after --" in refused(*words, str(tmp_path / "a.ko"))
    assert "small letters" in refused(*words, str(tmp_path / "A b.ko"), "--", "true")
    assert "small letters" in refused(*words, str(tmp_path / "a.c"), "--", "true")
    assert "there is no folder" in refused(*words, str(tmp_path / "b/a.ko"), "--", "true")
    for other in ("6.1.0-56-cloud-amd64", "6.120.1", "x"):
        wrong = refused("--kernel", other, "-o", str(tmp_path / "a.ko"), "--", "true")
        assert f"code of {other} can't be copied; only that of Debian's kernels" in wrong
    assert list(tmp_path.iterdir()) == []


def test_another_image_is_refused(tmp_path: Path) -> None:
    image = tmp_path / "vmlinuz"
    image.write_bytes(b"MZ, and nothing that zstd packed")
    symbols = ["ffffffff81000000 T _stext", "ffffffff82000000 T _etext"]
    with pytest.raises(KadenceError, match="is not compressed by zstd"):
        Image.of(image, symbols)
    with pytest.raises(KadenceError, match="no symbol _etext"):
        Kallsyms(symbols[:1])
    injecting = "ffffffff83000000 D __start_error_injection_whitelist"
    with pytest.raises(KadenceError, match="CONFIG_FUNCTION_ERROR_INJECTION"):
        Kallsyms([*symbols, injecting])


def test_symbols_are_read_by_root_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match=r"only root in a guest sees the symbols of 6\.12\.1"):
        kallsyms_of("6.12.1")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_worth_it_makes_no_module(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(making, "count", lambda *_words, **_options: COUNTED_IDLE)
    output = tmp_path / "a.ko"
    made = making.make(debian.newest_release("6.12"), ["true"], output)
    assert making.summary(made, output, "6.12") == (
        "not worth it: the kernel executes only 1.0 % of the instructions"
    )
    assert not output.exists()


COUNTED_IDLE = Counted(kernel=1, programs=99, caches=[Cache(32768, 8, 0, 0, 0)])


@dataclass(frozen=True)
class Modules:
    """A kernel, what was laid out for the ring, and the folder with modules."""

    kernel: Kernel
    layout: Layout
    folder: Path


def without(layout: Layout, name: str) -> Layout:
    """The layout without a function, so that its original is called."""
    [gone] = [address for address, each in layout.functions.items() if each.name == name]
    return Layout(
        {address: each for address, each in layout.functions.items() if address != gone},
        [address for address in layout.order if address != gone],
        {address: place for address, place in layout.entries.items() if address != gone},
    )


def of_another_build(image: Image) -> Image:
    """The image with another build ID."""
    other = object.__new__(Image)
    vars(other).update(vars(image) | {"notes": image.notes[:-1] + bytes([image.notes[-1] ^ 1])})
    return other


@pytest.fixture(scope="module")
def modules(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Modules:
    folder = tmp_path_factory.mktemp("positioned")
    kernel = counting.kernel_of(debian.newest_release("6.12"))
    counted = counting.count(kernel.release, [str(root / "build/examples/ring/ring"), *RING])
    layout = lay_out(kernel, counted)
    parts = {
        "code": (kernel.image, layout),
        "hidden": (kernel.image, without(layout, SLEEP)),
        "other": (of_another_build(kernel.image), layout),
    }
    for name, (image, what) in parts.items():
        module.build(name, image, what, kernel.release).write(folder / f"{name}.ko")
    unit = root / "examples/units/napi_limit.c"
    build(unit, kernel.release).write(folder / "napi_limit.ko")
    return Modules(kernel, layout, folder)


@pytest.mark.kernel
def test_the_hot_code_is_copied(modules: Modules) -> None:
    """A system call of the ring's comes through its entry."""
    functions, entries = modules.layout.functions, modules.layout.entries
    names = {each.name for each in functions.values()}
    assert {"tcp_sendmsg_locked", "tcp_recvmsg_locked", SLEEP, "__tcp_transmit_skb"} <= names
    assert "x64_sys_call" in {functions[address].name for address in entries}
    assert 20_000 < modules.layout.bytes < 120_000
    assert not any(name.startswith(("security_", "__x86_")) for name in names)
    assert set(entries.values()) <= modules.kernel.traced


def in_guest(modules: Modules, script: str, root: Path) -> str:
    """What the script prints in a guest with one processor."""
    kadence = [str(root / ".venv/bin/python"), "-m", "kadence.cli"]
    names = {
        "FOLDER": str(modules.folder),
        "HERE": str(HERE),
        "PYTHON": kadence[0],
        "KADENCE": shlex.join(kadence),
        "RING": str(root / "build/examples/ring/ring"),
    }
    output = modules.folder / "output"
    with output.open("wb") as stream:
        # On several processors QEMU 7.2 loses changes of instructions: see boot/x86_64.py.
        result = boot.run(
            boot.Request(
                image=debian.kernel_image(modules.kernel.release),
                argv=["/bin/sh", "-c", script],
                target="x86_64",
                directory=root,
                environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **names},
                stdout=stream.fileno(),
                stderr=stream.fileno(),
                boot_timeout_seconds=300,
                hang_timeout_seconds=300,
            )
        )
    told = output.read_text()
    assert (result.status, boot.complaints(result.log)) == (0, []), told + result.log
    return told + result.log


@pytest.mark.kernel
def test_copies_are_the_same_as_their_originals(modules: Modules, root: Path) -> None:
    """As both are in memory, after the kernel has changed them for its processor."""
    folder = modules.folder / "memory"
    folder.mkdir()
    script = f"insmod $FOLDER/code.ko && $PYTHON $HERE/dump.py {folder}"
    assert "functions run as copies" in in_guest(modules, script, root)
    copies = Copies(folder)
    assert copies.differences() == []
    pieces = sum(len(each.pieces) for each in modules.layout.functions.values())
    assert copies.compared > 0.9 * pieces


@pytest.mark.kernel
def test_tasks_leave_the_copies(modules: Modules, root: Path) -> None:
    """Six processes sleep in copies while these are removed, and go on in the originals."""
    told = in_guest(modules, "sh $HERE/attack.sh round_of_code refusals", root)
    assert_left(told, rounds=["code"])
    count = len(modules.layout.entries)
    assert re.findall(r"^(\w+) +copies +entered at (\d+) functions$", told, re.MULTILINE) == [
        ("code", str(count))
    ]
    for words in (
        "code: hidden changes functions whose copies run; remove code first",
        "code: napi_limit changes functions whose copies run; remove code first",
        "code: napi_limit changes functions; remove it first",
        "other is for another build of this kernel; make it anew",
        "kadence: other.ko has copies of another kernel's code, or of another build's",
    ):
        assert words in told, told


def assert_left(told: str, rounds: list[str]) -> None:
    assert re.findall(r"^(\w+): 0 frames left$", told, re.MULTILINE) == rounds, told
    assert told.count("received 60") == len(rounds), told
    sums = re.search(r"^sums: (.*)$", told, re.MULTILINE)
    assert sums is not None and re.fullmatch(rf"(node \d sum {SUM} ?)+", sums[1]), told


@pytest.mark.kernel
@pytest.mark.full
def test_tasks_leave_the_copies_whose_returns_are_traced(modules: Modules, root: Path) -> None:
    """Tracers keep the return addresses of processes that sleep in an original."""
    steps = ("round_of_code", "traced", "probed", "round_of_code")
    told = in_guest(modules, f"sh $HERE/attack.sh {' '.join(steps)}", root)
    assert_left(told, rounds=["code", "hidden", "hidden", "code"])


SEVERAL = """
for round in 1 2 3; do
	insmod /code.ko || exit 91
	for one in 1 2 3 4; do sleep 1000 & done
	cat /dev/zero | head -c 3000000 | md5sum
	rmmod code || exit 92
	kill $(jobs -p)
	wait
done
"""


@pytest.mark.kernel
@pytest.mark.full
def test_several_processors_leave_the_copies(modules: Modules) -> None:
    machine = qemu.Machine(
        debian.kernel_image(modules.kernel.release),
        processors=3,
        parallel=False,
        timeout_seconds=900,
    )
    files = {"code.ko": modules.folder / "code.ko"}
    outcome = qemu.run_script(machine, SEVERAL, files)
    assert (outcome.status, boot.complaints(outcome.console)) == (0, []), outcome.console
    assert outcome.console.count("functions run as copies") == 3
    md5 = subprocess.run(["md5sum"], input=bytes(3_000_000), capture_output=True).stdout.decode()
    assert outcome.console.count(md5.split()[0]) == 3
