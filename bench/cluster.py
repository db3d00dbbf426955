"""What do more primaries give? Checks over a real cluster, by the CPU time of each node.

    python -m bench.cluster [--rounds 3]

The servers of three clusters, of 1, 2 and 3 primaries, run on this machine with the append-only
file. It has fewer cores than there are processes, so time by the clock cannot show what more nodes
give. What can: the CPU time that each node's process used (the network's part too) over the checks
that were answered, for the busiest node is the first to be full. All ways to lie are measured in
turn, in every round with the same texts, checked by the service's own code without HTTP: first new
ones, then a mix with near copies, which is what is told, of which each client checks several at a
time as a worker with as many `TWINSIFT_THREADS` does, then these texts once more as they are, which
are replays, then another such mix one at a time, and a last one in batches. Figures are medians of
the rounds; a share is that of one round.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import TypeVar

import psutil

from bench import machine
from bench.cluster_load import (
    A_BATCH,
    CLIENTS,
    COMMON,
    FIRST,
    MIXED,
    NEAR_ONE_IN,
    THREADS,
    Clients,
    How,
    name_of_collection,
)
from bench.figures import Row, at_most, keep, show, table
from bench.made_up_texts import WORDS, similarity
from bench.processes import stop_all_when_told_to_end
from service.store.any_store import AnyStore
from service.store.connection import Connection
from service.store.keys import partition
from tests.clusters import ClusterServers, Member, cluster_servers

T = TypeVar("T")

WANTED_SHARE = 0.6
WANTED_SKEW = 1.15
ROUNDS = 3
OPTIONS = {
    "cluster-enabled": "yes",
    "cluster-node-timeout": "15000",  # all of them share two cores: a late answer is no death
}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to lie on a cluster: so many collections, of so many partitions each."""

    primaries: int
    partitions: int
    collections: int = 1

    @property
    def told(self) -> str:
        """In words."""
        if self.collections > 1:
            return f"{self.collections} collections of one partition"
        return f"{self.partitions} partition{'s' if self.partitions > 1 else ''}"


ALONE = Way(1, 1)
SPREAD = tuple(Way(nodes, nodes * times) for nodes in (2, 3) for times in (1, 2))
MANY = tuple(Way(nodes, 1, collections=30) for nodes in (2, 3))
WAYS = (ALONE, *SPREAD, *MANY)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one round: µs of CPU a check of each node, by how it was asked, and of replays, and the
    bytes it took. The node where the (first) collection is home stands first."""

    mixes: dict[How, list[float]]
    replays: list[float]
    memory: list[int]

    @property
    def skew(self) -> float:
        """The most bytes of a node over their mean."""
        return max(self.memory) / mean(self.memory)


Measured = dict[Way, list[Figures]]


def one_round(cluster: ClusterServers, clients: Clients, way: Way) -> Figures:
    """Fills an empty cluster in one way, and tells what that took."""
    empty(cluster)
    with closing(Connection(cluster.url, deadline=30.0)) as connection:
        store = AnyStore(connection)
        for number in range(way.collections):
            store.configure(name_of_collection(number), {"partitions": way.partitions})
        home = partition(store.collection(name_of_collection(0)).uid).settings
    clients.check(cluster.url, range(FIRST), way.collections, How.AT_ONCE)

    def spent(numbers: range, how: How) -> list[float]:
        return _spent(cluster, lambda: clients.check(cluster.url, numbers, way.collections, how))

    mix = range(FIRST, FIRST + MIXED)
    mixes = {How.AT_ONCE: spent(mix, How.AT_ONCE)}
    replays = spent(mix, How.AT_ONCE)
    for how in (How.ONE_BY_ONE, How.IN_BATCHES):
        mix = range(mix.stop, mix.stop + MIXED)
        mixes[how] = spent(mix, how)
    first = cluster.nodes.index(cluster.primary_of(home))
    full = [used_memory(node) for node in cluster.nodes]
    empty(cluster)  # compared with after, not before: scripts stay, and tables that have grown
    taken = [was - used_memory(node) for node, was in zip(cluster.nodes, full, strict=True)]
    return Figures(
        {how: _turned(nodes, first) for how, nodes in mixes.items()},
        _turned(replays, first),
        _turned(taken, first),
    )


def _turned(values: Sequence[T], first: int) -> list[T]:
    """The values with one of them in front."""
    return [values[first], *values[:first], *values[first + 1 :]]


def empty(cluster: ClusterServers) -> None:
    """Takes all out of a cluster, at once."""
    for node in cluster.nodes:
        node.ask("FLUSHALL SYNC")  # unasked it may free in the background


def used_memory(node: Member) -> int:
    """Bytes that a node has in use."""
    return int(node.client.info("memory")["used_memory"])


def _spent(cluster: ClusterServers, work: Callable[[], None]) -> list[float]:
    """µs of CPU that each node's process takes for one text of the mix."""
    before = [cpu_seconds(node) for node in cluster.nodes]
    work()
    after = [cpu_seconds(node) for node in cluster.nodes]
    return [(end - begin) / MIXED * 1e6 for begin, end in zip(before, after, strict=True)]


def cpu_seconds(node: Member) -> float:
    """What a node's process has used so far."""
    used = psutil.Process(node.process.pid).cpu_times()
    return float(used.user + used.system)


def measure(rounds: int = ROUNDS, ways: Sequence[Way] = WAYS) -> Measured:
    """All rounds, all ways in turn."""
    stop_all_when_told_to_end()
    measured: Measured = {way: [] for way in ways}
    with ExitStack() as opened:
        directory = Path(opened.enter_context(TemporaryDirectory(prefix="twinsift-bench-")))
        clusters = {
            count: opened.enter_context(
                cluster_servers(
                    directory / str(count), primaries=count, replicas=0, own_options=OPTIONS
                )
            )
            for count in sorted({way.primaries for way in ways})
        }
        clients = opened.enter_context(Clients())
        for number in range(rounds):
            for way in ways:
                figures = one_round(clusters[way.primaries], clients, way)
                measured[way].append(figures)
                print(f"  round {number + 1}, {way.told} on {way.primaries}: {figures}", flush=True)
    return measured


def shares(measured: Measured, way: Way, how: How) -> list[float]:
    """What the busiest node spends on a check over what a single node does, by round."""
    return [
        max(one.mixes[how]) / max(alone.mixes[how])
        for one, alone in zip(measured[way], measured[ALONE], strict=True)
    ]


def rows(measured: Measured) -> list[Row]:
    """What was asked: three primaries, as many partitions as make the share least."""
    spread = [way for way in SPREAD if way.primaries == 3]

    def best(how: How) -> Way:
        return min(spread, key=lambda way: median(shares(measured, way, how)))

    def share(how: How) -> Row:
        each = shares(measured, best(how), how)
        told = ", ".join(f"{one:.2f}" for one in each)
        return at_most(
            f"{how.value}: busiest of three primaries, CPU a check over the single node's",
            median(each),
            WANTED_SHARE,
            "{:.2f}",
            f"one collection of {best(how).told}; rounds: {told}",
        )

    return [
        *map(share, (How.AT_ONCE, How.IN_BATCHES, How.ONE_BY_ONE)),
        at_most(
            "its memory: the fullest node over the mean",
            median(figures.skew for figures in measured[best(How.AT_ONCE)]),
            WANTED_SKEW,
            "{:.2f}",
            f"{FIRST + 3 * MIXED:,} texts posted",
        ),
    ]


HEADS = (
    "primaries", "lies in", "checked", "busiest node, µs a check",
    "its share of the single node's", "checks/s of its core", "each node, µs a check, home first",
    "a replay: busiest node, µs", "memory: fullest node over mean",
)  # fmt: skip


def all_ways(measured: Measured) -> str:
    """Every way as a table in Markdown."""
    lines = [HEADS, ("---:", "---", "---", *("---:",) * (len(HEADS) - 3))]
    for way, rounds in measured.items():
        for how in How:
            each = [one.mixes[how] for one in rounds]
            nodes = [median(spent) for spent in zip(*each, strict=True)]
            busiest = median(map(max, each))
            once = how is How.AT_ONCE
            cells = (
                str(way.primaries),
                way.told,
                how.value,
                f"{busiest:,.0f}",
                f"{median(shares(measured, way, how)):.2f}",
                f"{1e6 / busiest:,.0f}",
                ", ".join(f"{node:,.0f}" for node in nodes),
                f"{median(max(one.replays) for one in rounds):,.0f}" if once else "",
                f"{median(one.skew for one in rounds):.2f}" if once else "",
            )
            lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of how many medians are made")
    rounds = parser.parse_args().rounds
    started = time.monotonic()
    measured = measure(rounds)
    answered = rows(measured)
    show(answered)
    minutes = (time.monotonic() - started) / 60
    alike = similarity(COMMON, WORDS)
    how = (
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, {minutes:.0f} minutes. Medians of {rounds} "
        f"rounds, all ways in turn; {CLIENTS} client processes of {THREADS} threads, without "
        f"HTTP; texts of {WORDS} words, {FIRST:,} new ones, then the {MIXED:,} that are told, one "
        f"in {NEAR_ONE_IN} a near copy ({alike:.2f}), {THREADS} at a time a process, then the same "
        f"once more as replays, then as many one at a time, then in batches of {A_BATCH}. CPU is "
        f"that of each node's process, its network's part and append-only file included."
    )
    keep(
        "make bench-cluster",
        "\n\n".join((how, machine.described(), table(answered), all_ways(measured))),
    )


if __name__ == "__main__":
    main()
