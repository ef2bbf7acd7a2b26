# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest starts on every processor, and its programs keep all of their registers.

The tests simulate other processors: they preload processor.c into User-Mode Linux, where it changes
the size of the host's register state.
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
# SSE and AVX; AVX-512; AMX; a future processor.
STATE_BYTES = [832, 2696, 11008, 16384]
# The flag in /proc/cpuinfo that a processor with these registers has.
KINDS = {"sse": "sse2", "avx": "avx", "avx512": "avx512bw"}
# Keeps programs from using registers that the simulated processor lacks.
NO_AVX512 = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"}


def processor_flags() -> set[str]:
    """The flags of this machine's processor."""
    return flags_in(Path("/proc/cpuinfo").read_text(encoding="utf-8"))


def flags_in(text: str) -> set[str]:
    """The processor's flags in the text of a /proc/cpuinfo."""
    found = re.search(r"^flags\s*: (.*)$", text, re.MULTILINE)
    return set(found[1].split()) if found else set()


@pytest.fixture(scope="session")
def with_state(
    compiled: Callable[..., Path], generic_kernel: Any, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """Make an image that starts `kernel` with a register state of `state_bytes` (processor.c)."""
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
    """The guest's kernel writes back the whole state, and each part is the right thread's.

    A state of 832 bytes has no room for AVX-512, so the guest's programs must not use AVX-512.
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
    """The generic kernel of series 7.3; skips the test if its source cannot be fetched."""
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
    """With seccomp=off the kernel uses ptrace(), which the preloaded library replaces."""
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
    """An emulated processor has fewer registers than this machine's, so ask the guest."""
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
    """Supported components, permitted components and refusals equal those on the host."""
    program = str(compiled("components", "-static"))
    expected = subprocess.run([program], check=True, capture_output=True).stdout
    assert guest_of(generic_kernel.image)(program).stdout == expected


def test_small_signal_stack_is_refused_not_overrun(
    compiled: Callable[..., Path],
    generic_kernel: Any,
    guest_of: Callable[[Path], Callable[..., Any]],
) -> None:
    """The program prints the same as on the host."""
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
    """A signal stack of usual size suffices with AMX: few processes have tiles in their frames."""
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
