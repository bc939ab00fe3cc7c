"""Metrics of a process, in a registry of its own, for Prometheus to read.

Counters and histograms are incremented where something happens; gauges are read when the registry is read. Labels have
few values: operations, outcomes, partitions. Tenants are a label of one gauge, of the largest values alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
COUNTS = (1, 4, 16, 64, 256, 1024)


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value at the moment, under the values of its metric's labels."""

    value: float
    labels: Sequence[str] = ()


class Metrics:
    """The registry of a process; rooms declare their metrics here."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._gauges: dict[str, _Gauges] = {}
        ProcessCollector(registry=self._registry)

    def counter(self, name: str, meaning: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(name, meaning, labels, registry=self._registry)

    def histogram(
        self, name: str, meaning: str, labels: Sequence[str] = (), *, buckets: Sequence[float] = SECONDS
    ) -> Histogram:
        return Histogram(name, meaning, labels, buckets=buckets, registry=self._registry)

    def gauge(
        self, name: str, meaning: str, read: Callable[[], Iterable[Gauge]], labels: Sequence[str] = ()
    ) -> None:
        """Report what `read` gives; several may report under one name."""
        if name not in self._gauges:
            self._gauges[name] = _Gauges(name, meaning, labels)
            self._registry.register(self._gauges[name])
        self._gauges[name].readers.append(read)

    def exposition(self, accept: str) -> tuple[Callable[[], bytes], str]:
        """Read all gauges; return what writes the metrics, in any thread, and its media type.

        The Accept header of a request chooses the format.
        """
        for gauges in self._gauges.values():
            gauges.read()
        encode, media_type = choose_encoder(accept)
        return partial(encode, self._registry), media_type


class _Gauges(Collector):
    """A gauge that is read from several places."""

    def __init__(self, name: str, meaning: str, labels: Sequence[str]) -> None:
        self.readers: list[Callable[[], Iterable[Gauge]]] = []
        self._name = name
        self._meaning = meaning
        self._labels = labels
        self._found: list[Gauge] = []

    def read(self) -> None:
        self._found = [gauge for read in self.readers for gauge in read()]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(self._name, self._meaning, labels=self._labels)
        for gauge in self._found:
            family.add_metric(gauge.labels, gauge.value)
        yield family

    def describe(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily(self._name, self._meaning, labels=self._labels)


def largest(counts: Mapping[str, int], most: int, *, others: str = "(others)") -> list[Gauge]:
    """List the largest counts each under its name, and the sum of the rest under another one."""
    ordered = sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    named = [Gauge(count, (name,)) for name, count in ordered[:most]]
    rest = sum(count for _, count in ordered[most:])
    return [*named, Gauge(rest, (others,))] if rest else named
