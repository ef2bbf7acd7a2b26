# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence view`: show a run's phases, timelines of the kernel, or a map of its code, as a page."""

import argparse
import contextlib
import os
import webbrowser
from pathlib import Path

from kadence.base import printing
from kadence.base.errors import UsageError
from kadence.codemap import page as codemap_page
from kadence.observe.timeline import merging
from kadence.observe.timeline import page as timeline_page
from kadence.phases.view import command, subject
from kadence.phases.view.command import Outputs, Shown
from kadence.specialize import foresight


def configure(parser: argparse.ArgumentParser) -> None:
    printing.add_json(parser)
    parser.add_argument(
        "inputs", type=Path, nargs="+", metavar="P.phases.json",
        help="phases of a run; or the traces of `kadence observe --timeline T.json`, one of each "
             "node, which are put on one timeline; or P.kcounts.json, for a map of a kernel's code",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", type=Path, metavar="P.html", help="the page (default: beside the input)"
    )
    parser.add_argument(
        "--profile", type=Path, metavar="P.kprof", help="default: the one beside the input"
    )
    parser.add_argument(
        "--plan", type=Path, metavar="P.plan.json", help="default: the one beside the input"
    )
    parser.add_argument(
        "--source",
        type=Path,
        metavar="DIR",
        help="show lines of sources below DIR (default: below the folder of the input)",
    )
    parser.add_argument("--no-open", action="store_true", help="do not open the page in a browser")
    parser.add_argument(
        "--serve", action="store_true", help="serve exact distances on 127.0.0.1 until Ctrl-C"
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port for --serve (default: any free one)"
    )
    parser.add_argument("--png", type=Path, metavar="F", help="a figure for papers, 16 bits")
    parser.add_argument("--svg", type=Path, metavar="F", help="the same figure, scalable")
    parser.add_argument("--trace", type=Path, metavar="F", help="timeline for Perfetto or Chrome")


def execute(options: argparse.Namespace) -> int:
    if any(map(merging.is_trace, options.inputs)):
        return _timeline(options)
    if len(options.inputs) == 1 and codemap_page.is_counts(options.inputs[0]):
        return _code_map(options, options.inputs[0])
    if len(options.inputs) > 1:
        raise UsageError("give one P.phases.json; only traces of `kadence observe` may be several")
    [phases] = options.inputs
    return _phases(options, phases)


def _timeline(options: argparse.Namespace) -> int:
    if options.png or options.svg or options.trace or options.serve:
        raise UsageError("a timeline of the kernel has a page only; leave out --png, --svg, "
                         "--trace and --serve")  # fmt: skip
    page = options.output or options.inputs[0].with_suffix(".html")
    nodes = [merging.read(path) for path in options.inputs]
    merged, agreement = merging.merged(nodes), merging.agreement(nodes)
    words = [str(path) for path in options.inputs]
    timeline_page.write(merged, words, [agreement] if agreement else [], page)
    if options.json:
        printing.document({"page": page, "nodes": len(nodes), "agreement": agreement})
    else:
        print(f"{page}: {len(nodes)} node{'s' if len(nodes) > 1 else ''}. {agreement}".rstrip())
    _open(page.resolve().as_uri(), options.no_open)
    return 0


def _code_map(options: argparse.Namespace, counts: Path) -> int:
    if options.png or options.trace or options.serve:
        raise UsageError("the map of a kernel's code has a page and --svg only; leave out --png, "
                         "--trace and --serve")  # fmt: skip
    page = options.output or counts.with_suffix(".html")
    codemap_page.write(counts, page, options.svg)
    if options.json:
        printing.document({"page": page})
    else:
        print(page)
    _open(page.resolve().as_uri(), options.no_open)
    return 0


def _phases(options: argparse.Namespace, path: Path) -> int:
    page = options.output or path.parent / f"{subject.stem(path)}.html"
    outputs = Outputs(page, options.png, options.svg, options.trace)
    shown = command.run(
        path, outputs, options.profile, options.plan, foresight.of_plan, options.source
    )
    phases = len(shown.subject.document.phases)
    if options.json:
        intervals = shown.subject.intervals
        printing.document({"page": page, "intervals": intervals, "phases": phases})
    else:
        print(f"{page}: {shown.subject.intervals} intervals, {phases} phases")
    if options.serve:
        _serve(shown, options)
    else:
        _open(page.resolve().as_uri(), options.no_open)
    return 0


def _serve(shown: Shown, options: argparse.Namespace) -> None:
    with command.serve(shown, options.port) as server:
        print(f"serving on {server.url} until Ctrl-C", flush=True)
        _open(server.url, options.no_open)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


def _open(url: str, unwanted: bool) -> None:
    """Open a browser if there is a screen."""
    if unwanted or not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    webbrowser.open(url)
