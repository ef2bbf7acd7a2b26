# SPDX-License-Identifier: GPL-2.0-or-later
"""From guards to symbols that can be requested; the kernel's own `conf` checks their effect."""

import subprocess
from pathlib import Path

import pytest

from kadence.kconfig.configuration import configure
from kadence.kconfig.trace.lift import Lift

KCONFIG = """\
mainmenu "Test"
config NET
\tbool "networking"
config INET
\tbool "internet"
\tdepends on NET
\tselect HASH
config UNIX
\tbool "local"
\tdepends on NET
config HASH
\tbool
\tselect HASH_CORE
config HASH_CORE
\tbool
menu "Buses"
\tdepends on !TINY
config PCI
\tbool "pci"
config VIRTIO
\tbool
\tselect RING
config VIRTIO_PCI
\tbool "virtio"
\tdepends on PCI && (UNIX || INET)
\tselect VIRTIO
config RING
\tbool
endmenu
config TINY
\tbool "tiny"
config USUAL
\tdef_bool y
\tdepends on PCI
"""


def run_conf(conf: Path, tree: Path, mode: str, asked: dict[str, str]) -> dict[str, str]:
    wanted = tree / "asked.config"
    wanted.write_text("".join(f"CONFIG_{name}={value}\n" for name, value in asked.items()))
    subprocess.run(
        [conf, mode, "Kconfig"],
        cwd=tree,
        check=True,
        capture_output=True,
        env={"KCONFIG_ALLCONFIG": str(wanted)},
    )
    return configure.values(tree / ".config")


@pytest.fixture
def lift(conf: Path, tmp_path: Path) -> Lift:
    (tmp_path / "Kconfig").write_text(KCONFIG)
    generous = run_conf(conf, tmp_path, "--allyesconfig", {"TINY": "n"})
    return Lift(tmp_path, {}, generous)


@pytest.mark.parametrize(
    ("guard", "chosen"),
    [
        ("NET", {"NET"}),
        ("INET", {"INET", "NET"}),
        ("HASH_CORE", {"INET", "NET"}),
        ("RING", {"VIRTIO_PCI", "PCI", "INET", "NET"}),
        ("USUAL", {"PCI"}),
    ],
)
def test_what_is_asked_for_gives_the_guard(
    lift: Lift, conf: Path, tmp_path: Path, guard: str, chosen: set[str]
) -> None:
    found = lift.choices([guard])
    assert set(found) == chosen
    smallest = run_conf(conf, tmp_path, "--allnoconfig", dict.fromkeys(found, "y"))
    assert smallest[guard] == "y"
    assert all(smallest[symbol] == "y" for symbol in found)


def test_each_choice_names_the_guard_that_it_is_for(lift: Lift) -> None:
    assert lift.choices(["HASH_CORE"]) == {"INET": "HASH_CORE", "NET": "HASH_CORE"}


def test_what_was_not_on_is_not_asked_for(lift: Lift) -> None:
    assert lift.choices(["TINY", "GONE"]) == {}
