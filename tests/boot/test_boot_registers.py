# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest starts on every processor, and its programs keep all of their registers.

Processors that this machine has not are made by construction: processor.c, preloaded into
User-Mode Linux, gives the host's register state another size.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.base.errors import ToolError
from kadence.kconfig.request import series
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.tree import fetch

pytestmark = pytest.mark.kernel

SIGNALS = "60"
# SSE and AVX; AVX-512; AMX; what comes next.
STATE_BYTES = [832, 2696, 11008, 16384]
# The flag in /proc/cpuinfo that a processor with these registers has.
KINDS = {"sse": "sse2", "avx": "avx", "avx512": "avx512bw"}
# Programs leave alone what the processor by construction lacks.
NO_AVX512 = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"}


def processor_flags() -> set[str]:
    """What this machine's processor can do."""
    return flags_in(Path("/proc/cpuinfo").read_text(encoding="utf-8"))


def flags_in(text: str) -> set[str]:
    """What the processor can do whose /proc/cpuinfo this is."""
    found = re.search(r"^flags\s*: (.*)$", text, re.MULTILINE)
    return set(found[1].split()) if found else set()


@pytest.fixture(scope="session")
def with_state(
    compiled: Callable[..., Path], generic_kernel: Any, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """The kernel on a processor whose register state has that many bytes; see processor.c."""
    preloaded = compiled("processor", "-shared", "-fPIC")
    folder = tmp_path_factory.mktemp("images")

    def make(state_bytes: int, *settings: str, kernel: Any = generic_kernel) -> Path:
        image = folder / f"linux-{kernel.id}-{state_bytes}{''.join(settings)}"
        words = [f"LD_PRELOAD={preloaded}", f"STATE_BYTES={state_bytes}", *settings]
        image.write_text(f'#!/bin/sh\nexec env {" ".join(words)} {kernel.image} "$@"\n')
        image.chmod(0o755)
        return image

    return make


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state_bytes", STATE_BYTES)
def test_processors_by_construction(
    compiled: Callable[..., Path],
    guest_of: Callable[[Path], Callable[..., Any]],
    with_state: Callable[..., Path],
    state_bytes: int,
    kind: str,
) -> None:
    """The guest's kernel writes the whole state back, and each part belongs to its thread.

    A state of 832 bytes has no room for AVX-512, which the guest's programs must leave alone.
    """
    if kind == "avx512" and state_bytes < 1000:
        kind = "avx"
    if KINDS[kind] not in processor_flags():
        pytest.skip(f"this processor has no {kind}")
    program = compiled("registers", "-static", "-mno-avx")
    guest = guest_of(with_state(state_bytes))
    ran = guest(str(program), kind, SIGNALS, environment=NO_AVX512)
    assert ran.result.status == 0, ran.stderr
    assert ran.stdout.endswith(b"kept\n")


@pytest.fixture(scope="session")
def newer_kernel() -> Any:
    """The generic kernel of 7.3, where its source can be had."""
    try:
        fetch.fetch(series.get("7.3"))
    except ToolError as error:
        pytest.skip(str(error))
    return build(BuildRequest(kind="generic", series="7.3"))


@pytest.mark.full
@pytest.mark.parametrize("state_bytes", STATE_BYTES)
def test_processors_by_construction_on_the_newer_series(
    compiled: Callable[..., Path],
    guest_of: Callable[[Path], Callable[..., Any]],
    with_state: Callable[..., Path],
    newer_kernel: Any,
    state_bytes: int,
) -> None:
    """By ptrace, which is what the preloaded library stands in for."""
    guest = guest_of(with_state(state_bytes, kernel=newer_kernel))
    words = [str(compiled("registers", "-static", "-mno-avx")), "sse", SIGNALS]
    ran = guest(*words, environment=NO_AVX512, kernel_arguments=["seccomp=off"])
    assert ran.result.status == 0, ran.stderr
    assert ran.stdout.endswith(b"kept\n")


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_registers_outlive_signals_by_seccomp(
    compiled: Callable[..., Path],
    guest_of: Callable[[Path], Callable[..., Any]],
    newer_kernel: Any,
    kind: str,
) -> None:
    if KINDS[kind] not in processor_flags():
        pytest.skip(f"this processor has no {kind}")
    guest = guest_of(newer_kernel.image)
    program = compiled("registers", "-static", "-mno-avx")
    ran = guest(str(program), kind, SIGNALS, kernel_arguments=["seccomp=on"])
    assert ran.result.status == 0, ran.stderr
    assert ran.stdout.endswith(b"kept\n")


@pytest.mark.parametrize("kind", KINDS)
def test_registers_outlive_signals_and_preemption(
    compiled: Callable[..., Path], guest: Callable[..., Any], kind: str
) -> None:
    """An emulated processor has fewer than this machine's."""
    if KINDS[kind] not in flags_in(guest("cat", "/proc/cpuinfo").stdout.decode()):
        pytest.skip(f"this processor has no {kind}")
    program = compiled("registers", "-static", "-mno-avx")
    ran = guest(str(program), kind, SIGNALS)
    assert ran.result.status == 0, ran.stderr
    assert ran.stdout.endswith(b"kept\n")


def test_components_are_those_of_the_machine(
    compiled: Callable[..., Path],
    generic_kernel: Any,
    guest_of: Callable[[Path], Callable[..., Any]],
) -> None:
    """What may be asked for, what was given, and each refusal: as the machine's kernel answers."""
    program = str(compiled("components", "-static"))
    expected = subprocess.run([program], check=True, capture_output=True).stdout
    assert guest_of(generic_kernel.image)(program).stdout == expected


def test_small_signal_stack_is_refused_not_overrun(
    compiled: Callable[..., Path],
    generic_kernel: Any,
    guest_of: Callable[[Path], Callable[..., Any]],
) -> None:
    """As on the machine's own kernel."""
    program = str(compiled("small_stack", "-static"))
    expected = subprocess.run([program], check=True, capture_output=True).stdout
    assert guest_of(generic_kernel.image)(program).stdout == expected


@pytest.mark.parametrize(("settings", "expected"), [(["ON_REQUEST=18"], b"0 0\n"), ([], b"11 0\n")])
def test_frames_leave_out_what_nobody_asked_for(
    compiled: Callable[..., Path],
    guest_of: Callable[[Path], Callable[..., Any]],
    with_state: Callable[..., Path],
    settings: list[str],
    expected: bytes,
) -> None:
    """With AMX a usual signal stack has room, as tiles are in the frames of few processes."""
    guest = guest_of(with_state(11008, *settings))
    stack = guest(str(compiled("small_stack", "-static")), environment=NO_AVX512)
    assert stack.stdout == expected
    program = compiled("registers", "-static", "-mno-avx")
    ran = guest(str(program), "sse", SIGNALS, environment=NO_AVX512)
    assert ran.stdout.endswith(b"kept\n"), ran.stderr


def test_tiles(
    compiled: Callable[..., Path],
    generic_kernel: Any,
    guest_of: Callable[[Path], Callable[..., Any]],
) -> None:
    if "amx_int8" not in processor_flags():
        pytest.skip("this processor has no AMX")
    ran = guest_of(generic_kernel.image)(str(compiled("tiles", "-static")))
    assert (ran.result.status, ran.stdout) == (0, b"multiplied\n"), ran.stderr
