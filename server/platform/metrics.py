"""Metrics of a process in its own registry, for Prometheus.

Counters and histograms are incremented where events happen; gauges are evaluated when Prometheus reads the
registry. Labels have few values: operations, outcomes, partitions. Tenants are a label of one gauge, for the
largest values only.
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
    """The current value of a gauge, with the values of the metric's labels."""

    value: float
    labels: Sequence[str] = ()


class Metrics:
    """The registry of a process, in which packages declare their metrics."""

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
        """Register a function that returns values of a gauge; several functions may share one name."""
        if name not in self._gauges:
            self._gauges[name] = _Gauges(name, meaning, labels)
            self._registry.register(self._gauges[name])
        self._gauges[name].readers.append(read)

    def exposition(self, accept: str) -> tuple[Callable[[], bytes], str]:
        """Evaluate all gauges; return a function that writes the metrics, callable in any thread, and the media type.

        The Accept header of a request chooses the format.
        """
        for gauges in self._gauges.values():
            gauges.read()
        encode, media_type = choose_encoder(accept)
        return partial(encode, self._registry), media_type


class _Gauges(Collector):
    """A gauge with several sources."""

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
    """Return a gauge for each of the largest counts, and one for the sum of the others."""
    ordered = sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    named = [Gauge(count, (name,)) for name, count in ordered[:most]]
    rest = sum(count for _, count in ordered[most:])
    return [*named, Gauge(rest, (others,))] if rest else named
