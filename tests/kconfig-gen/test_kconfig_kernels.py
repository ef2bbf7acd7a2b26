# SPDX-License-Identifier: GPL-2.0-or-later
"""Real kernels: they have the requested symbols, and ordinary programs run on the small one."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.kconfig.configuration import configure, identity
from kadence.kconfig.store import rehearsal, store
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.tree import commands, source

pytestmark = pytest.mark.kernel

PROGRAMS = Path(__file__).resolve().parent / "programs"


def output_of(kernel: Any, argv: list[str], directory: Path) -> str:
    """What a command prints on a kernel; the command must succeed without kernel complaints."""
    with (directory / "output").open("w+") as output:
        result = boot.run(
            boot.Request(
                image=kernel.image,
                argv=argv,
                directory=directory,
                stdout=output.fileno(),
                target=kernel.target,
            )
        )
        assert result.status == 0
        assert not boot.complaints(result.log)
        output.seek(0)
        return output.read()


@pytest.mark.parametrize("which", ["generic_kernel", "sockets_kernel"])
def test_a_kernel_holds_what_was_asked_for(which: str, request: pytest.FixtureRequest) -> None:
    kernel = request.getfixturevalue(which)
    final = configure.values(kernel.config)
    wanted = kernel.manifest["requested"]
    assert {symbol: final.get(symbol, "n") for symbol in wanted} == wanted
    assert store.find(kernel.id[:8]).manifest == kernel.manifest


def test_the_driver_is_compiled_for_x86_64(sockets_plan: Path, tmp_path: Path) -> None:
    """In a small configuration, which includes no header by chance, as a distribution's does."""
    inputs = identity.gather(BuildRequest("tailored", sockets_plan, "x86_64"))
    log = tmp_path / "log"
    tree = source.prepare(inputs.origin, inputs.patches, log)
    configure.configure(inputs, tree, tmp_path, log)
    assert configure.values(tmp_path / ".config")["KADAPT_RINGS"] == "y"
    commands.run(configure.make(inputs, tmp_path, "-j2", "drivers/misc/kadapt/"), tree, log)
    assert (tmp_path / "drivers/misc/kadapt/ring/guard.o").exists()


def test_the_tailored_kernel_is_much_smaller(generic_kernel: Any, sockets_kernel: Any) -> None:
    small, usual = sockets_kernel.manifest, generic_kernel.manifest
    assert small["text_bytes"] < 0.8 * usual["text_bytes"]
    assert small["image_bytes"] < 3_000_000


def test_uname_says_which_kernel_runs(
    generic_kernel: Any, sockets_kernel: Any, tmp_path: Path
) -> None:
    for kernel in (generic_kernel, sockets_kernel):
        release = output_of(kernel, ["uname", "-r"], tmp_path).strip()
        assert release == kernel.manifest["release"]
        assert release.endswith(f"-kadence-{kernel.kind}")


def test_shell_pipelines_run_on_the_tailored_kernel(sockets_kernel: Any, tmp_path: Path) -> None:
    script = "seq 1 1000 | sort -r | awk '{ s += $1 } END { print s }'"
    assert output_of(sockets_kernel, ["bash", "-c", script], tmp_path) == "500500\n"


@pytest.mark.parametrize(
    ("source", "compiler", "printed"),
    [("threads_tcp.c", "gcc-12", "500500\n"), ("sum.f90", "gfortran-12", "338350\n")],
)
def test_programs_run_on_the_tailored_kernel(
    sockets_kernel: Any, tmp_path: Path, source: str, compiler: str, printed: str
) -> None:
    program = tmp_path / "program"
    compile_it = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program]
    subprocess.run([*compile_it, PROGRAMS / source], check=True)
    assert output_of(sockets_kernel, [str(program)], tmp_path) == printed


def test_the_device_is_there(generic_kernel: Any, sockets_kernel: Any, tmp_path: Path) -> None:
    for kernel in (generic_kernel, sockets_kernel):
        script = "test -c /dev/kadapt && cat /sys/module/kadapt/parameters/quantum_max_ns"
        assert output_of(kernel, ["sh", "-c", script], tmp_path) == "10000000000\n"


@pytest.mark.full
@pytest.mark.parametrize("kind", ["generic", "tailored"])
def test_the_older_series_runs_programs_with_the_device(
    kind: str, write_plan: Callable[..., Path], tmp_path: Path
) -> None:
    plan = write_plan(socket_families=[1, 2], threads=True) if kind == "tailored" else None
    kernel = build(BuildRequest(kind=kind, plan=plan, series="6.1"))
    program = tmp_path / "program"
    subprocess.run(
        ["gcc-12", "-O2", "-pthread", "-o", program, PROGRAMS / "threads_tcp.c"], check=True
    )
    script = f"uname -r && test -c /dev/kadapt && {program}"
    printed = output_of(kernel, ["sh", "-c", script], tmp_path).split()
    assert printed == [kernel.manifest["release"], "500500"]
    assert printed[0].startswith("6.1.")
    assert store.find(kernel.id[:8]).manifest["series"] == "6.1"


@pytest.mark.full
def test_an_x86_64_kernel_is_small_and_runs_the_same_programs(
    sockets_kernel_x86_64: Any, tmp_path: Path
) -> None:
    kernel = sockets_kernel_x86_64
    assert kernel.manifest["text_bytes"] < 5_000_000
    assert "MODULES" not in configure.values(kernel.config)
    program = tmp_path / "program"
    subprocess.run(
        ["gcc-12", "-O2", "-pthread", "-o", program, PROGRAMS / "threads_tcp.c"], check=True
    )
    script = f"uname -r && test -c /dev/kadapt && {program}"
    printed = output_of(kernel, ["sh", "-c", script], tmp_path).split()
    assert printed == [kernel.manifest["release"], "500500"]


@pytest.mark.full
def test_the_first_x86_64_build_knows_what_it_will_compile(
    sockets_kernel_x86_64: Any, sockets_plan: Path, tmp_path: Path
) -> None:
    inputs = identity.gather(BuildRequest("tailored", sockets_plan, "x86_64"))
    tree = source.prepare(inputs.origin, inputs.patches, tmp_path / "log")
    configure.configure(inputs, tree, tmp_path, tmp_path / "log")
    expected = rehearsal._rehearsed(inputs, tree, tmp_path)
    compiled = sockets_kernel_x86_64.manifest["files_compiled"]
    assert 0.9 * compiled < expected <= compiled
