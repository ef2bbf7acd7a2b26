# SPDX-License-Identifier: GPL-2.0-or-later
"""Two ranks of a job that wait for one another in each visit, each with its own luck."""

import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from trial_programs import checked, linked

VISITS = 600
NOISES = (0.02, 0.12)  # one rank's visits differ more than the other's
SHARED = Path("/dev/shm")
PLAN = "0123456789abcdef"

OPEN_MPI = {"PMIX_NAMESPACE": "job-1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
MPICH = {"PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}
SLURM = {
    "SLURM_JOB_ID": "17",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_TASKS_PER_NODE": "4,2(x3)",
    "SLURM_NODEID": "2",
}


@pytest.fixture(scope="module", name="program")
def _program(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked(root, "ranks.c", tmp_path_factory.mktemp("ranks"))


@dataclass(frozen=True)
class Rank:
    """What a rank did."""

    status: int
    levels: str  # of each visit
    states: tuple[str, ...]  # of its phase
    blocks: int


def start(
    program: Path, folder: Path, number: int, end: socket.socket, job: dict[str, str]
) -> subprocess.Popen[str]:
    """Start one rank."""
    told = {"KADAPT_TRIALS_RECORD": str(folder / f"{number}.jsonl"), "KADAPT_TRIALS_SEED": "1"}
    words = [str(program), "visits", str(number), str(NOISES[number]), str(VISITS)]
    return subprocess.Popen(
        words, env=os.environ | job | told, stdin=end, stdout=end, stderr=subprocess.PIPE, text=True
    )


def started(program: Path, folder: Path, job: dict[str, str]) -> list[subprocess.Popen[str]]:
    """Start both ranks; this process keeps no end of theirs."""
    ends = socket.socketpair()
    ranks = [start(program, folder, number, end, job) for number, end in enumerate(ends)]
    for end in ends:
        end.close()
    return ranks


def ended(rank: subprocess.Popen[str], record: Path) -> Rank:
    """Wait for a rank."""
    levels = rank.communicate()[1]
    lines = [checked(line) for line in record.read_text().splitlines()]
    states = tuple(line["phase"]["state"] for line in lines if "phase" in line)
    return Rank(rank.returncode, levels, states, sum("block" in line for line in lines))


def run(program: Path, folder: Path, job: dict[str, str]) -> list[Rank]:
    """Run both ranks to their end."""
    ranks = started(program, folder, job)
    return [ended(rank, folder / f"{number}.jsonl") for number, rank in enumerate(ranks)]


def differing(ranks: list[Rank]) -> int:
    """The number of visits that the ranks made at different levels."""
    one, other = (rank.levels for rank in ranks)
    assert len(one) == len(other) == VISITS
    return sum(level != with_level for level, with_level in zip(one, other, strict=True))


def files() -> set[str]:
    """The names of files that ranks share."""
    return {path.name for path in SHARED.glob("kadapt-*")}


@pytest.mark.parametrize("job", [OPEN_MPI, MPICH, SLURM], ids=["openmpi", "mpich", "slurm"])
def test_ranks_of_a_node_try_in_the_same_visits(
    program: Path, tmp_path: Path, job: dict[str, str]
) -> None:
    before = files()
    ranks = run(program, tmp_path, job)
    assert [rank.status for rank in ranks] == [0, 0]
    # What stands may change one visit earlier in the rank that decides it.
    assert differing(ranks) <= 2
    assert sorted(rank.states for rank in ranks) == [("follows",), ("going",)]
    assert sorted(rank.blocks > 10 for rank in ranks) == [False, True]
    assert {"0", "1"} == set(ranks[0].levels)
    assert files() == before


def test_ranks_that_share_nothing_part(program: Path, tmp_path: Path) -> None:
    """One seed is not enough. This shows that the test above can fail."""
    assert differing(run(program, tmp_path, {})) > 10


def test_a_job_on_more_nodes_has_a_smaller_budget(program: Path, tmp_path: Path) -> None:
    run(program, tmp_path, OPEN_MPI | {"OMPI_COMM_WORLD_SIZE": "7"})
    header = json.loads((tmp_path / "0.jsonl").read_text().splitlines()[0])
    assert header["budget"] == pytest.approx(0.01 / 4)


def test_a_killed_rank_crashes_no_other(program: Path, tmp_path: Path) -> None:
    before = files()
    one, other = started(program, tmp_path, OPEN_MPI)
    other.kill()
    other.wait()
    assert ended(one, tmp_path / "0.jsonl").status in (0, -13)  # SIGPIPE: it wrote to nobody
    for path in files() - before:  # what a killed rank may leave
        (SHARED / path).unlink()


def test_another_users_file_is_not_used(program: Path, tmp_path: Path) -> None:
    """A file of the name that the ranks would use, made by somebody else."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    name = name_of_shared(program, tmp_path)
    name.write_bytes(b"")
    os.chown(name, 65534, 65534)
    try:
        ranks = run(program, tmp_path, OPEN_MPI)
        assert [rank.status for rank in ranks] == [0, 0]
        assert {rank.states for rank in ranks} == {("going",)}
        assert name.read_bytes() == b""
    finally:
        name.unlink()


def name_of_shared(program: Path, folder: Path) -> Path:
    """The file of OPEN_MPI's job: a rank that starts alone leaves it while it runs."""
    before = files()
    ends = socket.socketpair()
    rank = start(program, folder, 0, ends[0], OPEN_MPI)
    assert ends[1].recv(1)  # the rank has begun
    (found,) = files() - before
    ends[0].close()
    ends[1].close()
    rank.communicate()
    (SHARED / found).unlink(missing_ok=True)
    (folder / "0.jsonl").unlink()
    return SHARED / found


def test_a_full_dev_shm_means_no_sharing(program: Path, tmp_path: Path) -> None:
    """In a mount namespace whose /dev/shm has one page, which is taken."""
    script = (
        "mount -t tmpfs -o size=4k none /dev/shm && dd if=/dev/zero of=/dev/shm/full bs=4k count=1"
        f" 2>/dev/null && exec {program} visits 0 0.02 {VISITS} </dev/zero 2>&1 >/dev/null"
    )
    told = {"KADAPT_TRIALS_RECORD": str(tmp_path / "0.jsonl")}
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        env=os.environ | OPEN_MPI | told,
        capture_output=True,
        text=True,
        check=False,
    )
    if "not permitted" in done.stderr:
        pytest.skip("only root can mount")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) == VISITS
    assert '"state": "going"' in (tmp_path / "0.jsonl").read_text()


@pytest.mark.parametrize(
    ("text", "node", "tasks"),
    [
        ("4", 0, 4),
        ("4", 1, 0),
        ("16(x3),4", 2, 16),
        ("16(x3),4", 3, 4),
        ("16(x3),4", 4, 0),
        ("2,3,4", 1, 3),
        ("", 0, 0),
        ("x", 0, 0),
        ("2(x", 0, 0),
        ("2(x0),3", 1, 0),
        ("-2", 0, 0),
        ("99999999999999999999", 0, 0),
    ],
)
def test_slurms_list_of_tasks(program: Path, text: str, node: int, tasks: int) -> None:
    words = [str(program), "tasks", text, str(node)]
    assert int(subprocess.run(words, capture_output=True, check=True).stdout) == tasks
