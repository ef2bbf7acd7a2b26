# SPDX-License-Identifier: GPL-2.0-or-later
"""Units of a site's nodes: for a job whose bundle names them, and by the administrator's order."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from guest_cluster import GuestCluster
from guest_site import USER, GuestSite
from node_guest import stock_release

from kadence import boot
from kadence.kadapt.live import source
from kadence.slurm.manifest import Unit

pytestmark = [pytest.mark.kernel, pytest.mark.full]

SOURCE = Path(__file__).resolve().parent / "programs/counts.c"
COUNT = "/sys/module/counts/parameters/count"
# The batch script is a part of the job, so the unit is still there.
SCRIPT = f"srun --exclusive phases >/dev/null\ncat {COUNT}\n"
ORDER = 120


@pytest.fixture(scope="module")
def site(slurm: type, root: Path, kadence: Callable[..., Any]) -> Iterator[GuestSite]:
    """A site with one node, its driver and its unit for the node's kernel."""
    unit = Unit("counts", (1,), source.digests([SOURCE])["counts"])
    plugin = root / "build/slurm/kadence.so"
    with GuestCluster(plugin=plugin, site={"targets": ["module"]}) as cluster:
        made = GuestSite(cluster, kadence, units=[unit])
        made.set_up()
        made.build("--release", stock_release(), "--unit", SOURCE)
        yield made
        assert boot.complaints(cluster.guests["node1"].console()) == []


def units(site: GuestSite, *words: object) -> Any:
    """`kadence site units` as root."""
    command = ("site", "units", "--site", site.site_file, "--wait", ORDER, *words)
    return site.kadence(*command, env=site.cluster.environment())


def said(site: GuestSite, bundle: Path) -> str:
    """What the job's script and its steps printed."""
    words = ["--exclusive", f"--kadence={bundle}", "--kadence-target=module"]
    job = site.cluster.sbatch(
        SCRIPT.replace("phases", str(site.plain("phases"))), *words, user=USER
    )
    site.cluster.wait(job)
    return str(site.cluster.output(job, USER))


def test_job_takes_the_units_of_its_bundle(site: GuestSite) -> None:
    assert int(said(site, site.bundle)) > 0
    job = site.newest_record()
    assert site.record(job)["notice"] == ""
    assert (
        site.record(job)["nodestate"]
        == "the driver was loaded for the job, and is gone with its device"
    )
    site.require_plain_node()


def test_job_does_without_a_unit_of_another_version(site: GuestSite) -> None:
    other = site.share / "other.kbundle"
    site.write_bundle(other, [Unit("counts", (), "0" * 64)])
    text = said(site, other)
    assert "without unit counts, because the site has another version of unit counts" in text
    assert f"{COUNT}: No such file" in text
    # The program was adapted all the same.
    assert site.entries(site.newest_record()) == [[5, 5]]
    site.require_plain_node()


def test_administrator_installs_and_removes_a_unit(site: GuestSite) -> None:
    release = stock_release()
    none = units(site)
    assert (none.returncode, none.stdout) == (0, f"node1  {release}: no units\n"), none
    installed = units(site, "--install", "counts")
    there = f"node1  {release}: counts (phases)"
    assert (installed.returncode, installed.stdout) == (0, f"{there}\n"), installed
    twice = units(site, "--install", "counts", "--nodes", "node1")
    assert twice.returncode == 1
    assert twice.stdout == f"{there}; unit counts is installed already\n"
    # A job takes it, and its epilog leaves it where it was.
    assert int(said(site, site.bundle)) > 0
    assert units(site).stdout == f"{there}\n"
    removed = units(site, "--remove", "counts")
    assert (removed.returncode, removed.stdout) == (0, none.stdout), removed
    site.cluster.run(["srun", "rmmod", "kadapt"])
    site.require_plain_node()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--install", "missing"), "the administrator makes it with `kadence site build`"),
        (("--remove", "counts"), "unit counts is not installed"),
        (("--nodes", "node7"), "it was not asked"),
        (("--install", "../x"), "is not the name of a unit"),
        (("--install", "counts", "--remove", "counts"), "not allowed with argument"),
        (("--wait", "0"), "give --wait at least 1"),
    ],
)
def test_order_that_fails_says_why(site: GuestSite, words: tuple[str, ...], why: str) -> None:
    completed = units(site, *words)
    assert completed.returncode != 0
    assert why in completed.stdout + completed.stderr
    assert "Traceback" not in completed.stderr
    site.require_plain_node()


def test_unit_that_was_changed_is_refused(site: GuestSite) -> None:
    module = site.cluster.folder / "store/units" / stock_release() / "counts/counts.ko"
    original = module.read_bytes()
    module.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    try:
        refused = units(site, "--install", "counts")
    finally:
        module.write_bytes(original)
    assert refused.returncode == 1
    assert "counts.ko was changed after it was signed" in refused.stdout
    site.require_plain_node()
