# SPDX-License-Identifier: GPL-2.0-or-later
"""Target module: jobs on a node with Debian's stock kernel, a machine in QEMU."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster import until
from guest_cluster import GuestCluster
from guest_site import USER, GuestSite
from node_guest import stock_release

from kadence import boot

pytestmark = [pytest.mark.kernel, pytest.mark.full]

ROUNDS = 5  # of programs/*.c
OTHER_USER = "65534"


@pytest.fixture(scope="module")
def site(slurm: type, root: Path, kadence: Callable[..., Any]) -> Iterator[GuestSite]:
    """A site with one node, and its module for the node's kernel."""
    plugin = root / "build/slurm/kadence.so"
    # slurmctld notices as soon as a node is back that the boot ended the node's job.
    lines = ["BatchStartTimeout=1"]
    with GuestCluster(plugin=plugin, site={"targets": ["module"]}, lines=lines) as cluster:
        made = GuestSite(cluster, kadence)
        made.set_up()
        made.build("--release", stock_release())
        yield made
        assert boot.complaints(cluster.guests["node1"].console()) == []


def test_adapted_program_gets_the_driver_and_the_node_is_as_before(site: GuestSite) -> None:
    plain = site.run(site.plain("phases"))
    adapted = site.run("--exclusive", *site.options("module"), site.plain("phases"))
    assert adapted.stdout == plain.stdout
    job = site.newest_record()
    assert site.entries(job) == [[ROUNDS, ROUNDS]]
    assert site.record(job)["refused"] == ""
    assert (
        site.record(job)["nodestate"]
        == "the driver was loaded for the job, and is gone with its device"
    )
    site.require_plain_node()


def test_device_is_the_jobs_users_alone(site: GuestSite) -> None:
    look = "stat -c '%U %a' /dev/kadapt; cat /sys/module/kadapt/parameters/quantum_max_ns"
    words = ["--exclusive", *site.options("module"), "sh", "-c"]
    assert site.run(*words, look).stdout.split() == [USER, "600", "5000000000"]
    # Root can become another user inside the job.
    identity = f"--reuid={OTHER_USER} --regid={OTHER_USER} --clear-groups"
    enter = f"setpriv {identity} sh -c ': < /dev/kadapt' || : < /dev/kadapt && echo opened"
    other = site.cluster.run(["srun", *words, enter])
    assert "/dev/kadapt: Permission denied" in other.stderr
    assert other.stdout == "opened\n"
    site.require_plain_node()


def test_job_that_shares_the_node_is_refused(site: GuestSite) -> None:
    words = ["-n", "1", *site.options("module")]
    shared = site.run(*words, site.plain("phases"))
    assert shared.stdout == site.run(site.plain("phases")).stdout
    assert "submit with --exclusive; running unadapted" in shared.stderr
    failed = site.run(*words, "--kadence-fallback=fail", site.plain("phases"), check=False)
    assert failed.returncode == 1
    assert failed.stdout == ""
    site.require_plain_node()


def test_bundle_that_comes_with_the_step(site: GuestSite) -> None:
    """The prolog does not know the bundle, so the step's own preparation must do the same."""
    words = [*site.options("module"), "--kadence-broadcast", site.plain("phases")]
    plain = site.run(site.plain("phases"))
    assert site.run("--exclusive", *words).stdout == plain.stdout
    assert site.entries(site.newest_record()) == [[ROUNDS, ROUNDS]]
    site.require_plain_node()
    shared = site.run("-n", "1", *words)
    assert "submit with --exclusive; running unadapted" in shared.stderr
    site.require_plain_node()


def test_release_without_a_module_is_refused(site: GuestSite) -> None:
    modules = site.cluster.folder / "store/modules"
    (modules / stock_release()).rename(modules / "aside")
    try:
        words = ["--exclusive", *site.options("module"), site.plain("phases")]
        refused = site.run(*words)
    finally:
        (modules / "aside").rename(modules / stock_release())
    assert "the administrator makes it with `kadence site build`" in refused.stderr
    site.require_plain_node()


def test_module_that_was_changed_is_refused(site: GuestSite) -> None:
    module = site.cluster.folder / "store/modules" / stock_release() / "kadapt.ko"
    original = module.read_bytes()
    module.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    try:
        words = ["--exclusive", *site.options("module"), site.plain("phases")]
        refused = site.run(*words)
    finally:
        module.write_bytes(original)
    assert "kadapt.ko was changed after it was signed; running unadapted" in refused.stderr
    site.require_plain_node()


def test_ranks_of_an_mpi_program(site: GuestSite) -> None:
    """srun starts four tasks, each with the device."""
    words = ["-n", "4", "--exclusive", "--mpi=pmix"]
    plain = site.run(*words, site.plain("ranks"))
    adapted = site.run(*words, *site.options("module"), site.plain("ranks"))
    assert plain.stdout.startswith("4 ranks, sum ")
    assert adapted.stdout == plain.stdout
    assert site.entries(site.newest_record()) == [[ROUNDS, ROUNDS]] * 4
    site.require_plain_node()


def test_driver_that_was_there_stays_as_it_was(site: GuestSite) -> None:
    """The administrator may have loaded it for some users only and with another limit."""
    module = site.cluster.folder / "store/modules" / stock_release() / "kadapt.ko"
    root_run = site.cluster.run
    root_run(["srun", "insmod", module, "quantum_max_ns=700000"])
    root_run(["srun", "sh", "-c", "chmod 640 /dev/kadapt; chgrp daemon /dev/kadapt"])
    site.run("--exclusive", *site.options("module"), site.plain("phases"))
    job = site.newest_record()
    assert site.entries(job) == [[ROUNDS, ROUNDS]]
    assert (
        site.record(job)["nodestate"]
        == "the driver was there before the job, and is idle, with its device as it was"
    )
    state = "stat -c '%U %G %a' /dev/kadapt; cat /sys/module/kadapt/parameters/quantum_max_ns"
    found = root_run(["srun", "sh", "-c", state]).stdout.split()
    assert found == ["root", "daemon", "640", "700000"]
    root_run(["srun", "rmmod", "kadapt"])
    site.require_plain_node()


def test_prolog_that_is_killed_leaves_nothing(site: GuestSite) -> None:
    """Whatever the prolog had done by then, the next sweep restores the node."""
    tool = f"{site.cluster.environment()['PATH'].partition('/.venv')[0]}/build/slurm/kadence-node"
    rules = site.site_file
    start = f"{tool} --site {rules} --node node1"
    wish = f"--uid 5 --bundle {site.bundle} --target module --exclusive"
    prepare = f"{start} prepare --job 900000 {wish}"
    # A missing state.json means that the prolog did not finish.
    forget = f"rm {site.cluster.places.spool('node1')}/jobs/900000/state.json"
    look = f"test -e /dev/kadapt && {forget} && {start} sweep"
    site.cluster.run(["srun", "--exclusive", "sh", "-c", f"{prepare} && {look}"])
    site.require_plain_node()


def test_power_failure_in_mid_job(site: GuestSite) -> None:
    words = ["--exclusive", "--no-requeue", *site.options("module")]
    # slurmctld takes a job for lost only if it began MessageTimeout and 5 s before its node booted.
    # It still expects a younger job to start. A quiet machine boots sooner, hence the sleep.
    script = "sleep 20\necho begun\nsrun phases 600\n"
    job = site.cluster.sbatch(script, *words, user=USER)
    output = site.cluster.home(USER) / f"slurm-{job}.out"
    until(lambda: output.exists() and "begun" in output.read_text(), "the job runs", 60)
    site.cluster.kill_slurmd("node1")
    site.cluster.start_slurmd("node1")
    assert site.cluster.wait(job).state in {"NODE_FAIL", "FAILED", "CANCELLED"}
    site.require_plain_node()
    site.run("--exclusive", *site.options("module"), site.plain("phases"))
    assert site.entries(site.newest_record()) == [[ROUNDS, ROUNDS]]
    site.require_plain_node()
