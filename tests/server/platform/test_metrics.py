"""Metrics and samplers on their own."""

import pytest
from opentelemetry.trace import SpanKind

from server.platform.metrics import Gauge, Metrics, largest
from server.platform.observation_config import MetricsConfig, TracingConfig
from server.platform.trace_export import BoundedSampler


def test_the_largest_are_told_apart_and_the_rest_is_summed_up() -> None:
    counts = {"north": 3, "south": 5, "east": 1, "west": 1}

    assert largest(counts, 2) == [Gauge(5, ("south",)), Gauge(3, ("north",)), Gauge(2, ("(others)",))]
    assert largest(counts, 4)[-1] == Gauge(1, ("west",))
    assert largest({}, 2) == []


def test_a_gauge_is_read_from_several_places() -> None:
    metrics = Metrics()
    for name in ("one", "two"):
        metrics.gauge("gnomon_places", "Places", lambda name=name: [Gauge(1, (name,))], ("place",))

    write, _ = metrics.exposition("")

    assert b'gnomon_places{place="one"} 1.0' in write()
    assert b'gnomon_places{place="two"} 1.0' in write()


def test_a_sampler_takes_so_many_of_a_second() -> None:
    seconds = iter([1.0, 1.2, 1.9, 2.0, 2.1, 2.2])
    sampler = BoundedSampler(2, clock=lambda: next(seconds))

    sampled = [sampler.should_sample(None, 1, "x", SpanKind.SERVER).decision.name for _ in range(6)]

    assert sampled == [*("RECORD_AND_SAMPLE",) * 2, "DROP", *("RECORD_AND_SAMPLE",) * 2, "DROP"]


@pytest.mark.parametrize(
    ("section", "name", "number"),
    [
        (MetricsConfig, "port", -1),
        (MetricsConfig, "max_tenants", 0),
        (MetricsConfig, "sample_seconds", 0),
        (TracingConfig, "sample_ratio", 1.1),
        (TracingConfig, "max_traces_per_second", 0),
    ],
)
def test_a_setting_out_of_bounds_is_refused(section: type, name: str, number: float) -> None:
    with pytest.raises(ValueError, match=name):
        section(**{name: number})
