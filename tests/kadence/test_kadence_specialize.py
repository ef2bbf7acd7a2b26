# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole flow on small programs, on real kernels."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.kernel

Kadence = Callable[..., Any]
COMBINATIONS = {
    (kernel, program)
    for kernel in ("machine", "generic", "tailored")
    for program in ("plain", "adapted")
}
STAGES = (
    *("prepare", "build plain", "plain runs", "profile", "phases", "predict", "needs", "plan"),
    *("build adapted", "adapted run", "ceiling", "flags", "observe", "measure"),
)
RUN = ["./heat", "-n", "64", "-s", "2000", "-e", "200"]


def written(folder: Path, source: str, check: str = '["./p", "check"]', run: str = "") -> Path:
    folder.mkdir()
    (folder / "p.c").write_text(source)
    (folder / "Makefile").write_text("p: p.c\n\t$(CC) -O2 -o $@ $<\n")
    (folder / "kadence.toml").write_text(
        f'[program]\nname = "p"\n[build]\ncommand = "make"\n[run]\ncommand = ["./p"]\n'
        f"interval = 10000\n{run}\n[check]\ncommand = {check}\n"
    )
    return folder


@pytest.fixture(scope="module")
def heat(root: Path, kadence: Kadence, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Specialize a small heat; returns the output folder."""
    place = tmp_path_factory.mktemp("heat")
    folder = place / "heat"
    shutil.copytree(root / "examples/heat", folder)
    description = (folder / "kadence.toml").read_text().splitlines()
    described = [
        f"command = {json.dumps(RUN)}\ninterval = 100000" if line.startswith("command = [\"./") else
        line
        for line in description
        if not line.startswith(("profile", "validate"))
    ]  # fmt: skip
    (folder / "kadence.toml").write_text("\n".join(described) + "\n")
    before = sorted(folder.iterdir())
    completed = kadence("specialize", folder, "-o", place / "out", timeout=3000)
    assert completed.returncode == 0, completed.stderr
    assert sorted(folder.iterdir()) == before
    (place / "out/said").write_text(completed.stdout)
    (place / "out/progress").write_text(completed.stderr)
    return place / "out"


def test_the_first_picture_is_named_before_kernels_are_waited_for(heat: Path) -> None:
    lines = (heat / "progress").read_text().splitlines()
    named = next(line for line in lines if line.startswith("kadence: first picture: "))
    picture = Path(named.removeprefix("kadence: first picture: ").partition(" (")[0])
    assert picture.resolve() == heat / "heat.matrix-annotated.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert lines.index(named) < lines.index("kadence: kernels …")


def test_the_notebook_shows_the_folder(
    heat: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_FOLDER", str(heat))
    notebook = nbformat.read(root / "examples/notebook/heat.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output["text"] for output in outputs if output["output_type"] == "stream"]
    assert texts == [f"{report(heat)['verdict']['sentence']}\n"]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    tables = [output for output in outputs if "text/html" in output.get("data", {})]
    assert (len(pictures), len(tables)) == (2, 6)


def report(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text())


def test_all_combinations_are_measured_and_agree(heat: Path) -> None:
    document = report(heat)
    assert document["schema"] == "kadence.report"
    assert document["without"] == document["filters"] == []
    assert document["failures"] == []
    cells = document["cells"]
    assert {(cell["kernel"], cell["program"]) for cell in cells} == COMBINATIONS
    for cell in cells:
        assert {len(samples) for samples in cell["samples"].values()} == {7}
        assert cell["outputs"] == cells[0]["outputs"]
        assert min(cell["samples"]["seconds"]) > 0
        assert (min(cell["samples"]["boot_seconds"]) > 0) == (cell["kernel"] != "machine")


def test_the_output_is_that_of_the_program_built_without_us(
    heat: Path, root: Path, tmp_path: Path
) -> None:
    makefile = root / "examples/heat/Makefile"
    subprocess.run(["make", "-s", "-f", makefile, "CC=gcc-12"], cwd=tmp_path, check=True)
    output = subprocess.run(RUN, cwd=tmp_path, capture_output=True, check=True).stdout
    files = {
        "standard output": output,
        "heat.checkpoint": (tmp_path / "heat.checkpoint").read_bytes(),
    }
    expected = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert report(heat)["cells"][0]["outputs"] == expected


def test_the_report_has_phases_plan_kernels_and_calls(heat: Path) -> None:
    document = report(heat)
    assert {"compute", "file-io"} <= {phase["kind"] for phase in document["phases"]}
    quanta = {policy["name"]: policy["quantum_ns"] for policy in document["plan"]["policies"]}
    assert quanta["file-io"] == 0
    kernels = {kernel["kind"]: kernel for kernel in document["kernels"]}
    assert kernels["tailored"]["image_bytes"] < kernels["generic"]["image_bytes"]
    assert kernels["tailored"]["boot_seconds"]["count"] == 14
    writes = [
        call for call in document["system_calls"]
        if (call["name"], call["descriptor"]) == ("write", "file")
    ]  # fmt: skip
    # 10 checkpoints of 8 x 8 cells; the profiled run's standard output is a file, too.
    assert writes[0]["count"] == 640 + 1


def test_the_report_tells_what_the_kernel_did_in_each_phase(heat: Path) -> None:
    document = report(heat)
    writing = {phase["id"] for phase in document["phases"] if phase["kind"] == "file-io"}
    writes = {
        phase["phase"]: row["calls"]
        for phase in document["observed"]["phases"]
        for row in phase["functions"]
        if row["function"] == "vfs_write"
    }
    # 10 checkpoints of 8 x 8 cells, and the program's last line.
    assert sum(writes.values()) == 640 + 1
    assert set(writes) <= writing
    assert "What the kernel does in each phase" in (heat / "report.html").read_text()


def test_the_report_tells_what_adapted_runs_tried(heat: Path) -> None:
    """Runs in guests leave records, too. Without the device there may be nothing to try."""
    told = report(heat)["trials"]
    assert {one["kernel"] for one in told["kernels"]} >= {"generic", "tailored"}
    assert all((one["files"], one["records"]) == (8, 8) for one in told["kernels"])
    tried = {(arm["phase"], arm["policy"]) for one in told["kernels"] for arm in one["arms"]}
    assert "rings" in {policy for _, policy in tried}
    assert told["notes"] == []
    assert told["sentence"] in (heat / "said").read_text()


def test_the_page_and_the_table_say_the_same(heat: Path) -> None:
    page = (heat / "report.html").read_text()
    said = (heat / "said").read_text()
    sentence = report(heat)["verdict"]["sentence"]
    assert sentence in said
    assert sentence.replace("'", "&#39;") in page
    assert str(heat / "report.html") in said
    assert page.count("data:image/png;base64,") == 1


def test_the_second_call_finds_all_done(heat: Path, kadence: Kadence) -> None:
    before = {path: path.read_bytes() for path in heat.glob("*.*") if path.is_file()}
    completed = kadence("specialize", heat.parent / "heat", "-o", heat)
    assert completed.returncode == 0
    assert completed.stdout == (heat / "said").read_text()
    done = [line for line in completed.stderr.splitlines() if line.endswith(": unchanged")]
    assert done == [f"kadence: {stage}: unchanged" for stage in STAGES], completed.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_output_that_differs_is_a_failure_shown_first(kadence: Kadence, tmp_path: Path) -> None:
    source = """\
#include <stdio.h>
#include <sys/utsname.h>
int main(int argc, char **argv)
{
	struct utsname name;
	uname(&name);
	return printf("%s %s\\n", name.release, name.version) < 0 || argv[argc] != NULL;
}
"""
    folder = written(tmp_path / "p", source)
    # A repair, which would fail here, would build one more kernel.
    completed = kadence("specialize", folder, "-o", tmp_path / "out", "--budget", 0, timeout=3000)
    assert completed.returncode == 1
    assert "Traceback" not in completed.stderr
    assert completed.stdout.startswith("standard output of the ")
    document = report(tmp_path / "out")
    assert document["verdict"]["outcome"] == "failed"
    # None on the tailored kernel: it failed its proof, so no program is measured on it.
    assert len(document["failures"]) == 2
    page = (tmp_path / "out/report.html").read_text()
    assert page.index("The output is not the same everywhere") < page.index("<h1>")


def test_a_tailored_kernel_that_fails_the_check_does_not_serve(
    kadence: Kadence, tmp_path: Path
) -> None:
    check = """["sh", "-c", "! grep -q 'User Mode Linux' /proc/cpuinfo"]"""
    folder = written(tmp_path / "p", "int main(void) { return 0; }\n", check)
    completed = kadence("specialize", folder, "-o", tmp_path / "out", "--budget", 0, timeout=3000)
    assert completed.returncode == 3, completed.stderr
    document = report(tmp_path / "out")
    assert {cell["kernel"] for cell in document["cells"]} == {"machine", "generic"}
    assert document["verdict"]["kernel"] == "generic"
    assert completed.stdout.startswith("Left out: the tailored kernel: the program's check ended ")
    (lost,) = document["without"]
    assert lost["part"] == "the tailored kernel"
    assert "the program's check ended with status 1" in lost["reason"]


DIFFERENT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double grid[1 << 12];
static unsigned keys[1 << 12];
static __attribute__((noinline)) void diffuse(int times)
{
	for (int t = 0; t < times; t++)
		for (int i = 1; i < (1 << 12) - 1; i++)
			grid[i] = 0.25 * grid[i - 1] + 0.5 * grid[i] + 0.25 * grid[i + 1];
}
static __attribute__((noinline)) void mix(int times)
{
	unsigned state = 1;
	for (int t = 0; t < times; t++)
		for (int i = 0; i < 1 << 12; i++)
			keys[i] ^= state = state * 1664525u + 1013904223u + keys[state >> 20];
}
int main(int argc, char **argv)
{
	char line[64] = "";
	struct timespec now;
	if (argc > 2 || !fgets(line, sizeof(line), stdin))
		return 2;
	grid[100] = 1;
	for (int i = 0; i < 4; i++) {
		diffuse(strstr(line, "diffuse") ? 40 : 0);
		mix(strstr(line, "mix") ? 60 : 0);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	printf("%s: %s%g %u\n", getenv("TITLE"), line, grid[99], keys[7]);
	return printf("# ended at %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec) < 0 || !argv[0];
}
"""


def test_inputs_that_differ_cost_phase_calls_and_nothing_else(
    kadence: Kadence, tmp_path: Path
) -> None:
    """Separate standard inputs, an environment and a filter, from source to report."""
    folder = written(
        tmp_path / "p",
        DIFFERENT,
        check='["sh", "-c", "echo mix | ./p | grep -q ^title:"]',
        run='stdin = "both"\nvalidate_stdin = "other"\n[environment]\nTITLE = "title"\n'
        "[[filter]]\npattern = '^# ended at '\n",
    )
    (folder / "both").write_text("diffuse mix\n")
    (folder / "other").write_text("mix\n")
    words = ("specialize", folder, "-o", tmp_path / "out", "--target", "um")
    completed = kadence(*words, timeout=3000)
    assert completed.returncode == 3, completed.stderr
    document = report(tmp_path / "out")
    assert document["failures"] == []
    assert [part["part"] for part in document["without"]] == ["some phases' calls"]
    assert completed.stdout.startswith("Left out: some phases' calls: the program is input-dep")
    assert document["plan"]["stability"]["reduced"]
    cells = document["cells"]
    assert {(cell["kernel"], cell["program"]) for cell in cells} == COMBINATIONS
    (filtered,) = document["filters"]
    assert (filtered["removed"], filtered["lines"]) == (1, 3)
    plain = (tmp_path / "out/plain-runs/first/standard output").read_bytes()
    kept = hashlib.sha256(b"".join(plain.splitlines(keepends=True)[:-1])).hexdigest()
    assert plain.startswith(b"title: diffuse mix\n")
    assert all(cell["outputs"] == {"standard output": kept} for cell in cells)
    page = (tmp_path / "out/report.html").read_text()
    assert page.index("Only part of this was possible") < page.index("Time from request")


BAD = {
    "that does not build": ("int main(void) { return x; }", '["true"]', "", "ended with status"),
    "that fails": ("int main(void) { return 3; }", '["true"]', "", "ended with status 3 as"),
    "whose check fails here": (
        "int main(void) { return 0; }", '["false"]', "", "does not pass on this machine's own"
    ),
    "without its input": (
        "int main(void) { return 0; }", '["true"]', 'inputs = ["reads"]', "has no reads"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_program_ends_in_one_sentence(case: str, kadence: Kadence, tmp_path: Path) -> None:
    source, check, run, complaint = BAD[case]
    folder = written(tmp_path / "p", source, check, run)
    completed = kadence("specialize", folder, "-o", tmp_path / "out", timeout=3000)
    assert completed.returncode == 1
    assert "Traceback" not in completed.stderr
    assert complaint in completed.stderr.splitlines()[-1]
    assert not (tmp_path / "out/report.json").exists()
