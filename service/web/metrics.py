"""What Prometheus is told: counters of all workers together, and the store as it is now.

Counters begin at zero with the service, as Prometheus expects; `/stats` has those that last. No
label carries an id, a name or a text: all of them take a few fixed values.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

import service
from service.catalogue import Catalogue
from service.dedup.stored import Gauges
from service.dedup.verdict import Answer
from service.errors import StoreError

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_STAGE_SECONDS = (0.0001, 0.00025, 0.0005, *_SECONDS[:-1])

_CHECKS = Counter("twinsift_checks", "Checks answered, replays and dry runs apart.", ["verdict"])
_ACTIONS = Counter("twinsift_actions", "What these checks told the caller to do.", ["action"])
_REPLAYS = Counter("twinsift_idempotent_replays", "Checks that were answered as before.")
_REJECTED = Counter("twinsift_rejected", "Calls and items refused, by problem code.", ["reason"])
_STORE_ERRORS = Counter("twinsift_redis_errors", "Calls that the store failed, by kind.", ["kind"])
_REQUESTS = Histogram(
    "twinsift_http_request_duration_seconds",
    "From the first line of a request to its answer, to the end of a stream.",
    ["route", "method", "code"],
    buckets=_SECONDS,
)
_STAGES = Histogram(
    "twinsift_stage_duration_seconds",
    "What a request spends in all on parsing, hashing, waiting for the store and verifying.",
    ["stage"],
    buckets=_STAGE_SECONDS,
)
_BATCH_ITEMS = Histogram(
    "twinsift_batch_items", "Items of a batch.", buckets=(1, 10, 50, 100, 250, 500, 1000, 10_000)
)
_CANDIDATES = Histogram(
    "twinsift_candidates_per_check",
    "Stored texts compared in a check.",
    buckets=(0, 1, 2, 4, 8, 16, 32, 64),
)


def check(answer: Answer) -> None:
    """Counts the answer to a check that was no dry run."""
    if answer.replayed:
        _REPLAYS.inc()
        return
    _CHECKS.labels(answer.verdict.value).inc()
    _ACTIONS.labels(answer.action.value).inc()
    _CANDIDATES.observe(answer.candidates.looked_at)


def batch(items: int) -> None:
    """Counts a batch."""
    _BATCH_ITEMS.observe(items)


def rejected(code: str) -> None:
    """Counts a problem that a call, or an item of a batch, was answered with."""
    _REJECTED.labels(code).inc()


def store_failed(kind: str) -> None:
    """Counts a call or an item that the store failed."""
    _STORE_ERRORS.labels(kind).inc()


def request(
    route: str, method: str, status: int, seconds: float, by_stage: Mapping[str, float]
) -> None:
    """Counts a request."""
    _REQUESTS.labels(route, method, str(status)).observe(seconds)
    for stage, spent in by_stage.items():
        _STAGES.labels(stage).observe(spent)


@lru_cache
def route(rule: str) -> str:
    """A route of Flask's as openapi.yaml writes it: `/documents/{id}`."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)


def exposition(catalogue: Catalogue) -> bytes:
    """All measures, in the text format of Prometheus."""
    try:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    except ValueError:  # not served by gunicorn: there is one process
        registry = REGISTRY
    of_store = CollectorRegistry()
    of_store.register(_Store(catalogue))
    return generate_latest(registry) + generate_latest(of_store)


class _Store(Collector):
    """The store as it is now; of one that does not answer nothing but that."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def collect(self) -> Iterator[Metric]:
        """The measures that are read, not counted."""
        build = GaugeMetricFamily(
            "twinsift_build_info", "The version that runs.", labels=["version"]
        )
        build.add_metric([service.__version__], 1)
        yield build
        try:
            gauges = self._catalogue.gauges()
        except StoreError:
            yield _gauge("redis_up", "Whether the store answers.", 0)
            return
        yield _gauge("redis_up", "Whether the store answers.", 1)
        yield from _of_documents(gauges)
        yield from _of_server(gauges)


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"twinsift_{name}", words, value=value)


def _of_documents(gauges: Gauges) -> Iterator[Metric]:
    documents = GaugeMetricFamily(
        "twinsift_index_documents", "Documents, by state.", labels=["state"]
    )
    for state, count in gauges.documents.items():
        documents.add_metric([state], count)
    yield documents
    yield _gauge("conflicts_open", "Conflicts that wait for a person.", gauges.open_conflicts)
    opened = gauges.oldest_conflict
    age = 0.0 if opened is None else max(0.0, time.time() - opened)
    yield _gauge("oldest_conflict_age_seconds", "How long the oldest has waited.", age)


def _of_server(gauges: Gauges) -> Iterator[Metric]:
    facts = gauges.store
    limit = facts.maxmemory_bytes
    ratio = facts.memory_bytes / limit if limit else 0.0
    yield _gauge("redis_memory_used_bytes", "Memory that the store uses.", facts.memory_bytes)
    yield _gauge("redis_memory_used_ratio", "Its share of the limit; 0: no limit.", ratio)
    yield CounterMetricFamily(
        "twinsift_redis_evicted_keys",
        "Keys that the store has evicted: each may be a false `new`.",
        value=facts.evicted_keys,
    )
    yield _gauge(
        "redis_aof_write_ok", "Whether its last write to the disk succeeded.", facts.aof_write_ok
    )
    yield _gauge("redis_replicas", "Replicas that are connected.", facts.replicas)
    lag = facts.replica_lag_bytes
    yield _gauge("redis_replica_lag_bytes", "How far the slowest of them is behind.", lag)
