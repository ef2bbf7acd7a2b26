# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a symbol is on or off, and how two kernels differ, on toy kernels."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from kadence.kconfig.store.build import BuildRequest, build
from kadence.kernel import kernel_figures

KCONFIG = """\
config CHOSEN
\tbool "Chosen"
config BY_ITSELF
\tdef_bool y
config SELECTED
\tbool
config HIDDEN
\tbool
config PARENT
\tbool "Parent"
\tdefault y
config CHILD
\tbool "Child"
\tdefault y
\tdepends on PARENT && !BY_ITSELF
config AIO
\tbool "AIO"
\tselect SELECTED
"""


@pytest.fixture
def kernel(workshop: Any) -> Any:
    """A kernel tailored to a program that uses asynchronous I/O."""
    workshop.toy.define(KCONFIG)
    plan = workshop.plan(system_calls=["io_setup"])
    return build(BuildRequest(kind="tailored", plan=plan, source=workshop.toy.tree))


EXPECTED = {
    "AIO": "CONFIG_AIO=y: calls.toml: the program uses Linux asynchronous I/O",
    "CONFIG_AIO": "CONFIG_AIO=y: calls.toml: the program uses Linux asynchronous I/O",
    "HOSTFS": "CONFIG_HOSTFS=y: boot/needs-um.toml: the root file system",
    "SWAP": "CONFIG_SWAP=n: performance.toml: not used unless the plan says so",
    "SELECTED": "CONFIG_SELECTED=y: selected by AIO",
    "BY_ITSELF": "CONFIG_BY_ITSELF=y: nobody asked for it; Kconfig's default has it",
    "PARENT": "CONFIG_PARENT=n: nothing has switched it on",
    "HIDDEN": "CONFIG_HIDDEN=n: it has no prompt, and nothing that is on selects it",
    "CHILD": "CONFIG_CHILD=n: unmet dependency: PARENT (PARENT is n) and !BY_ITSELF "
    "(BY_ITSELF is y)",
}


def test_every_symbol_is_explained(kernel: Any, kadence: Any) -> None:
    for symbol, sentence in EXPECTED.items():
        completed = kadence("kernel", "explain", kernel.id, symbol)
        assert completed.stdout == f"{sentence}\n", completed.stderr


def test_explaining_builds_nothing(kernel: Any, kadence: Any, workshop: Any) -> None:
    before = workshop.toy.times_built()
    kadence("kernel", "explain", kernel.id)
    assert workshop.toy.times_built() == before


def test_the_summary_counts_each_symbol_once(kernel: Any, kadence: Any) -> None:
    said = kadence("kernel", "explain", kernel.id).stdout
    first, *rest = said.splitlines()
    on = sum(line.endswith("=y") for line in kernel.config.read_text().splitlines())
    assert first == f"{on} symbols of kernel {kernel.id} are on:"
    assert sum(int(line.split()[0]) for line in rest) == on
    assert re.search(r"^ +1  requested by boot/needs-um.toml$", said, re.MULTILINE)
    assert re.search(r"^ +1  selected by what is on \(SELECTED\)$", said, re.MULTILINE)


def test_an_unknown_symbol_is_told(kernel: Any, kadence: Any, refused: Callable[..., str]) -> None:
    complaint = refused(kadence("kernel", "explain", kernel.id, "NOT_THERE"))
    assert "this kernel's source has no symbol NOT_THERE for um" in complaint


def test_a_repair_is_explained_by_what_failed(workshop: Any, kadence: Any) -> None:
    workshop.toy.define(KCONFIG)
    found = workshop.tailored("grep -q PARENT=y $CONFIG || exit 7", budget=100)
    said = kadence("kernel", "explain", found.kernel.id, "PARENT").stdout
    assert said.startswith("CONFIG_PARENT=y: put back by a repair: the program's check ended with")
    assert "status 7" in said


def test_two_kernels_are_compared(workshop: Any, kernel: Any, kadence: Any) -> None:
    generic = build(BuildRequest(source=workshop.toy.tree))
    said = kadence("kernel", "diff", kernel.id, generic.id).stdout
    assert re.search(rf"^kernel +{kernel.id} +{generic.id}$", said, re.MULTILINE)
    assert re.search(r"^kind +tailored +generic$", said, re.MULTILINE)
    bytes_of = [f"{each.manifest['image_bytes']:,}" for each in (kernel, generic)]
    assert re.search(rf"^image, bytes +{' +'.join(bytes_of)}$", said, re.MULTILINE)
    changed = [line.strip() for line in said.partition("symbols differ:\n")[2].splitlines()]
    assert "AIO: y -> n" in changed
    assert "PARENT: n -> y" in changed
    assert not [line for line in changed if line.startswith("BY_ITSELF")]
    assert f"{len(changed)} symbols differ:" in said


def test_what_was_measured_of_kernels_is_compared(
    workshop: Any, kernel: Any, kadence: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    generic = build(BuildRequest(source=workshop.toy.tree))
    assert "boot" not in kadence("kernel", "diff", kernel.id, generic.id).stdout
    found = kernel_figures.KernelFigures("a toy", {"boot_seconds": 0.25, "getppid": 181.0})
    monkeypatch.setattr(kernel_figures, "_here", lambda _: found)
    kernel_figures.measure(kernel)
    said = kadence("kernel", "diff", kernel.id, generic.id).stdout
    assert re.search(r"^boot_seconds +0.250 +-$", said, re.MULTILINE)
    assert re.search(r"^getppid +181 +-$", said, re.MULTILINE)


def test_a_kernel_does_not_differ_from_itself(kernel: Any, kadence: Any) -> None:
    assert "0 symbols differ:" in kadence("kernel", "diff", kernel.id, kernel.id[:8]).stdout
