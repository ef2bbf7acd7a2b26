# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact mode counts the same as gcov in HMMER, a public program, with two threads.

Which thread comes first, and which waits for which, differs from run to run, with gcov, too. The
functions whose counts depend on that are named below; all other counts are equal in every run.
"""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from compiled_programs import counts
from gcov_oracle import block_counts
from test_profiler_compiled_exact import TOLD, Block

from kadence.base.resources import built
from kadence.profiler import kprof

pytestmark = pytest.mark.full

RUNS = 10
SEARCH = ["src/hmmsearch", "--cpu", "2", "tutorial/Pkinase.hmm", "small.fa"]
# Functions in which threads wait for each other, or join results in the order in which they end.
UNORDERED = ("esl_threads_", "esl_workqueue_", "p7_tophits_")
# With gcov's counters the compiler would split functions differently and renumber their blocks.
FLAGS = "-O2 -g -fno-partial-inlining"
PREPARE = """
"$CORPUS/fetch" hmmer 3.3.2+dfsg-1
(cd source/easel && autoreconf -fi) && (cd source && AUTOHEADER=true autoreconf -fi)
python3 "$CORPUS/hmmer/inputs.py" source/tutorial/Pkinase.hmm 300 2 >source/small.fa
"""
BUILD = "./configure --enable-threads --enable-sse && make -C easel && make -C src hmmsearch"


def shell(script: str, folder: Path, **environment: str) -> None:
    subprocess.run(["bash", "-ec", script], cwd=folder, env=os.environ | environment, check=True)


@pytest.fixture(scope="module")
def source(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hmmer")
    shell(PREPARE, folder, CORPUS=str(root / "bench/corpus"))
    return folder / "source"


@pytest.fixture(scope="module")
def exact(source: Path) -> Path:
    folder = Path(shutil.copytree(source, source.with_name("exact")))
    modes = {"KADENCE_MODE": "profile", "KADENCE_PROFILE": "exact"}
    wrapper = str(built("bin/kadence-cc"))
    shell(BUILD, folder, CC=wrapper, CFLAGS=f"{FLAGS} -fdump-ipa-all", **modes)
    return folder


@pytest.fixture(scope="module")
def covered(source: Path) -> Path:
    folder = Path(shutil.copytree(source, source.with_name("covered")))
    shell(BUILD, folder, CC="gcc-12", CFLAGS=f"{FLAGS} --coverage -fprofile-update=atomic")
    return folder


def our_run(exact: Path) -> Counter[Block]:
    profile = exact / "search.kprof"
    shell(" ".join(SEARCH), exact, KADENCE_PROFILE_OUTPUT=str(profile))
    found: Counter[Block] = Counter()
    for (function, _checksum, index), count in counts(kprof.read(profile)).items():
        assert index is not None
        found[function, index] += count
    return found


def gcovs_run(exact: Path, covered: Path) -> Counter[Block]:
    for old in covered.rglob("*.gcda"):
        old.unlink()
    shell(" ".join(SEARCH), covered)
    found: Counter[Block] = Counter()
    for dump in exact.rglob("*kadence_exact"):
        part = covered / dump.relative_to(exact).parent / dump.name.partition(".c.")[0]
        data = part.with_suffix(".gcda")
        if data.exists():
            entered = block_counts(part.with_suffix(".gcno"), data)
            for body, counted, index, function in TOLD.findall(dump.read_text()):
                found[function, int(index)] += entered[body].get(int(counted), 0)
    return found


def test_counts_equal_gcovs(exact: Path, covered: Path) -> None:
    ours, gcovs = [], []
    for _ in range(RUNS):
        ours.append(our_run(exact))
        gcovs.append(gcovs_run(exact, covered))
    blocks = set[Block]().union(*ours, *gcovs)
    ordered = {block for block in blocks if not block[0].startswith(UNORDERED)}
    print(f"{len(blocks)} blocks, {len(ordered)} of them independent of the threads' order")
    assert len(ordered) > 0.99 * len(blocks) > 20_000
    for run in (*ours, *gcovs):
        assert {block: run[block] for block in ordered if run[block] != gcovs[0][block]} == {}
    for block in blocks - ordered:
        found, expected = ({run[block] for run in runs} for runs in (ours, gcovs))
        assert len(found) > 1 or len(expected) > 1 or found == expected, block
