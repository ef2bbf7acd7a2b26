# SPDX-License-Identifier: GPL-2.0-or-later
"""What the driver offers on stock kernels, and its packages, in those kernels under QEMU."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence import boot
from kadence.base.version import VERSION
from kadence.boot import debian, driver, qemu

pytestmark = pytest.mark.kernel
PLAIN: frozenset[str] = frozenset()
WHOLE = frozenset({"quantum", "rings", "short delays", "batches", "units"})
RINGS = frozenset({"rings", "short delays", "batches"})
OFFERS = {"6.1": PLAIN, "6.8": PLAIN, "6.12": WHOLE, "7.3": RINGS}
# Debian 12 has 6.1 and 6.12. KADENCE_TEST_SERIES names those of another system.
SERIES = os.environ.get("KADENCE_TEST_SERIES", "6.1 6.12").split()
SCRIPT = "insmod /kadapt.ko || exit 91\n/query || exit 92\n"


def offered(release: str, module: Path, query: Path) -> set[str]:
    """What the device says in a guest with this kernel."""
    machine = qemu.Machine(debian.kernel_image(release), kernel_arguments=["quiet"])
    outcome = qemu.run_script(machine, SCRIPT, {"kadapt.ko": module, "query": query})
    assert outcome.status == 0, outcome.console
    assert boot.complaints(outcome.console) == [], outcome.console
    return set(re.findall(r"^offers ([a-z ]+)\r?$", outcome.console, re.MULTILINE))


@pytest.fixture(scope="module")
def query(root: Path, guest_program: Callable[[Path], Path]) -> Path:
    return guest_program(root / "tests/kadapt/query/main.c")


@pytest.mark.parametrize("series", SERIES)
def test_stock_kernels_offer_what_the_document_says(series: str, query: Path, root: Path) -> None:
    release = debian.newest_release(series)
    found = offered(release, driver.modules(release) / driver.DRIVER, query)
    assert found == OFFERS[series]
    row = next(
        line
        for line in (root / "docs/kadapt.md").read_text().splitlines()
        if line.startswith(f"| {series} |")
    )
    assert set(re.findall(r"`([a-z ]+)`", row)) == OFFERS[series]


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A site's key and certificate."""
    folder = tmp_path_factory.mktemp("key")
    made = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=A site/", "-keyout", made[0], "-out", made[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return made


def test_driver_is_packaged_and_signed_for_one_kernel(
    root: Path, key: tuple[Path, Path], query: Path, tmp_path: Path
) -> None:
    release = debian.newest_release(SERIES[-1])
    command = [root / "packages/driver", release, debian.kernel_headers(release), *key]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    package = root / made.stdout.strip()
    assert package.name.startswith(f"kadapt-modules-{release}_{VERSION}+")
    subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    module = tmp_path / "lib/modules" / release / "updates/kadapt/kadapt.ko"
    told = subprocess.run(["modinfo", module], check=True, capture_output=True, text=True).stdout
    assert re.search(r"^signer: +A site$", told, re.MULTILINE)
    assert offered(release, module, query) == OFFERS[SERIES[-1]]


def test_bad_arguments_of_a_package_are_told(
    root: Path, key: tuple[Path, Path], tmp_path: Path
) -> None:
    missing = tmp_path / "missing"
    for words, said in (
        (("6.12.0-none", missing), "install linux-headers-6.12.0-none"),
        (("6.12.0-none", "/usr", missing), f"cannot read the key {missing}"),
        (("6.12.0-none", "/usr", key[0]), "cannot read the certificate '' of"),
    ):
        ran = subprocess.run(
            [root / "packages/driver", *words], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 1
        assert said in ran.stderr
        assert len(ran.stderr.splitlines()) == 1
