# SPDX-License-Identifier: GPL-2.0-or-later
"""Orders for sections of code, from how often each ran and how often one went on in another."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

C3_BYTES = 4096  # a cluster's: Ottoni and Maher take a page


@dataclass(frozen=True)
class Flow:
    """What ran: all sections, and the calls and jumps between them."""

    bytes: Mapping[str, int]
    heat: Mapping[str, int]  # bytes that were executed
    edges: Mapping[tuple[str, str], int]  # from, to -> times


def by_heat(flow: Flow) -> list[str]:
    """The section whose bytes ran oftenest comes first."""
    return sorted(flow.bytes, key=lambda name: (-flow.heat[name] / flow.bytes[name], name))


def pettis_hansen(flow: Flow) -> list[str]:
    """Closest is best: Pettis and Hansen, Profile Guided Code Positioning (1990), section 3.

    The two chains with the heaviest edge between them become one, such that its ends lie close.
    """
    chains = {name: [name] for name in flow.bytes}
    for (one, other), _ in sorted(_undirected(flow).items(), key=lambda each: (-each[1], each[0])):
        first, second = chains[one], chains[other]
        if first is not second:
            merged = _closest(flow, first, second, one, other)
            chains.update(dict.fromkeys(merged, merged))
    return _densest_first(flow, chains)


def _undirected(flow: Flow) -> dict[tuple[str, str], int]:
    weights: dict[tuple[str, str], int] = defaultdict(int)
    for (one, other), count in flow.edges.items():
        weights[min(one, other), max(one, other)] += count
    return weights


def _closest(flow: Flow, first: list[str], second: list[str], one: str, other: str) -> list[str]:
    ways = [(a, b) for a in (first, first[::-1]) for b in (second, second[::-1])]

    def between(way: tuple[list[str], list[str]]) -> int:
        behind, before = way[0][way[0].index(one) + 1 :], way[1][: way[1].index(other)]
        return sum(flow.bytes[name] for name in (*behind, *before))

    best = min(ways, key=between)
    return best[0] + best[1]


def call_chain_clustering(flow: Flow) -> list[str]:
    """C3: Ottoni and Maher, Optimizing Function Placement for Data-Center Applications (2017).

    Each section, the hottest first, comes behind the cluster of its most frequent caller.
    """
    callers = _most_frequent_callers(flow)
    clusters = {name: [name] for name in flow.bytes}
    for name in by_heat(flow):
        caller = callers.get(name)
        if caller is None or clusters[caller] is clusters[name] or clusters[name][0] != name:
            continue
        merged = [*clusters[caller], *clusters[name]]
        if sum(flow.bytes[each] for each in merged) <= C3_BYTES:
            clusters.update(dict.fromkeys(merged, merged))
    return _densest_first(flow, clusters)


def _most_frequent_callers(flow: Flow) -> dict[str, str]:
    most: dict[str, tuple[int, str]] = {}
    for (caller, callee), count in flow.edges.items():
        most[callee] = max(most.get(callee, (0, "")), (count, caller))
    return {callee: caller for callee, (_, caller) in most.items()}


def _densest_first(flow: Flow, chains: Mapping[str, list[str]]) -> list[str]:
    """The chains by how often a byte of theirs ran."""
    different = {id(chain): chain for chain in chains.values()}.values()

    def density(chain: list[str]) -> float:
        return sum(flow.heat[name] for name in chain) / sum(flow.bytes[name] for name in chain)

    ordered = sorted(different, key=lambda chain: (-density(chain), chain))
    return [name for chain in ordered for name in chain]


ORDERS: Mapping[str, Callable[[Flow], list[str]]] = {
    "pettis-hansen": pettis_hansen,
    "c3": call_chain_clustering,
    "heat": by_heat,
}
