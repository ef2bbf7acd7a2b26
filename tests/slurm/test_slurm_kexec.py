# SPDX-License-Identifier: GPL-2.0-or-later
"""Target kexec: a node, a machine in QEMU, starts the site's kernel for a job, and goes back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from guest_cluster import GuestCluster
from guest_site import USER, GuestSite
from node_guest import initial_ram, stock_release

from kadence import boot
from kadence.kconfig.request.request import TAILORED, BuildRequest
from kadence.slurm import gather

pytestmark = [pytest.mark.kernel, pytest.mark.full]

ROUNDS = 5  # of programs/*.c
TAILORED_RELEASE = "-kadence-tailored"
# The machine's console, and the clocks that an emulated kernel may trust.
COMMAND_LINE = "console=ttyS0 tsc=reliable no_timer_check"
# What the node's console shows when a kernel of the site panics on purpose.
PLANNED_PANIC = "Unable to mount root fs"


@pytest.fixture(scope="module")
def site(
    slurm: type,
    root: Path,
    kadence: Callable[..., Any],
    make_plan: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[GuestSite]:
    """A site with one node, and its kernel for the bundle."""
    folder = tmp_path_factory.mktemp("plan")
    plan = make_plan(
        folder / "plan.json",
        system_calls=["read", "write", "socket", "futex"],
        socket_families=[1, 2],
        threads=True,
        processes=True,
        shared_memory=True,
    )
    wanted = gather.configuration(BuildRequest(TAILORED, plan, "x86_64"))
    (folder / "initrd").write_bytes(initial_ram({}))
    with _cluster(root, f"kadence_{wanted.id}") as cluster:
        made = GuestSite(cluster, kadence, {"x86_64": wanted})
        made.set_up()
        words = ["--cmdline", COMMAND_LINE, "--initrd", folder / "initrd"]
        printed = made.build(made.bundle, *words)
        assert f"Feature=kadence_{wanted.id} Helper={root}/slurm/kexec/feature" in printed
        yield made
        told = boot.complaints(cluster.guests["node1"].console())
        assert [line for line in told if PLANNED_PANIC not in line] == []


def _cluster(root: Path, feature: str) -> GuestCluster:
    scripts = root / "slurm/kexec"
    features = [f"Feature={name} Helper={scripts}/feature\n" for name in ("kadence_own", feature)]
    return GuestCluster(
        plugin=root / "build/slurm/kadence.so",
        site={"targets": ["kexec"]},
        files={
            "helpers.conf": "".join(features),
            "cli_filter.lua": (scripts / "cli_filter.lua").read_text(),
        },
        lines=[
            "NodeFeaturesPlugins=node_features/helpers",
            f"RebootProgram={scripts}/reboot",
            f"Epilog={scripts}/epilog",
            "CliFilterPlugins=lua",
            "ResumeTimeout=180",
        ],
    )


def run(site: GuestSite, *words: object, **options: Any) -> Any:
    """Run a step on the bundle's kernel; srun gets only the bundle and the target."""
    environment = {
        "KADENCE_NODE": str(site.cluster.options.plugin.with_name("kadence-node")),
        "KADENCE_SITE": str(site.site_file),
    }
    return site.cluster.run(
        ["srun", *site.options("kexec"), *words],
        user=USER,
        environment=environment,
        timeout=400,
        **options,
    )


def kernels(site: GuestSite) -> list[str]:
    """The kernels under which the node has started so far."""
    return site.cluster.guests["node1"].starts()


def require_back(site: GuestSite) -> None:
    site.require_plain_node()
    assert kernels(site)[-1] == stock_release()


def test_job_runs_on_the_sites_kernel_and_the_node_goes_back(site: GuestSite) -> None:
    plain = site.run(site.plain("phases"))
    adapted = run(site, site.plain("phases"))
    assert adapted.stdout == plain.stdout
    job = site.newest_record()
    assert site.record(job)["refused"] == ""
    assert site.entries(job) == [[ROUNDS, ROUNDS]]
    require_back(site)
    assert kernels(site)[-2].endswith(TAILORED_RELEASE)


def test_job_sees_kernel_and_device(site: GuestSite) -> None:
    """The node that went back must boot again: Slurm must not believe it still has the kernel."""
    look = "uname -r; cat /proc/cmdline; stat -c '%U %a' /dev/kadapt; nproc"
    release, line, device, processors = run(site, "sh", "-c", look).stdout.splitlines()
    assert release.endswith(TAILORED_RELEASE)
    wanted = site.configurations["x86_64"].id
    assert line == f"kadence.kernel={wanted} kadapt.quantum_max_ns=5000000000 {COMMAND_LINE}"
    assert device == f"{USER} 600"
    assert processors == "4"
    require_back(site)


def test_ranks_of_an_mpi_program(site: GuestSite) -> None:
    plain = site.run("-n", "4", "--mpi=pmix", site.plain("ranks"))
    adapted = run(site, "-n", "4", "--mpi=pmix", site.plain("ranks"))
    assert adapted.stdout == plain.stdout
    assert site.entries(site.newest_record()) == [[ROUNDS, ROUNDS]] * 4
    require_back(site)


def checked(site: GuestSite) -> str:
    """What the health check says of the target, on the node."""
    node = site.cluster.options.plugin.with_name("kadence-node")
    words = ["srun", node, "--site", site.site_file, "check"]
    return str(site.cluster.run(words, check=False).stdout)


def test_kernel_that_was_changed_is_not_started(site: GuestSite) -> None:
    assert "ok       target kexec, kernels: 1, in " in checked(site)
    kernel = site.cluster.folder / "store/kernels" / site.configurations["x86_64"].id / "bzImage"
    original = kernel.read_bytes()
    kernel.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    try:
        assert "problem  " in checked(site)
        unadapted = run(site, "uname", "-r")
    finally:
        kernel.write_bytes(original)
    assert unadapted.stdout.strip() == stock_release()
    assert "this node does not run the site's kernel" in unadapted.stderr
    require_back(site)


def test_kernel_that_panics_does_not_lose_the_node(site: GuestSite) -> None:
    site.build(site.bundle, "--cmdline", COMMAND_LINE)  # without its initial RAM file system
    failed = run(site, "--kadence-fallback=fail", "uname", "-r", check=False)
    assert PLANNED_PANIC in site.cluster.guests["node1"].console()
    assert failed.returncode == 1
    assert failed.stdout == ""
    require_back(site)
