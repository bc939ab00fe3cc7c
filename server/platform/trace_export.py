"""Records spans and sends them to an OpenTelemetry collector."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision, ParentBased, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

from server.platform.observation_config import TracingConfig
from server.platform.tracing import Tracer

EXPORT_SECONDS = 1.0
MOST_SPANS = 2048
"""Most spans that wait for their export; further ones are dropped."""


@contextmanager
def exporting(config: TracingConfig) -> Iterator[Tracer]:
    """Export the spans that begin during the block."""
    provider = TracerProvider(
        sampler=BoundedSampler(config.max_traces_per_second),
        resource=Resource.create({"service.name": "gnomon"}),
    )
    exporter = OTLPSpanExporter(endpoint=config.endpoint, insecure=True, timeout=EXPORT_SECONDS)
    # One batch holds all waiting spans, so that the final export takes no longer than one request.
    provider.add_span_processor(
        BatchSpanProcessor(exporter, max_queue_size=MOST_SPANS, max_export_batch_size=MOST_SPANS)
    )
    try:
        yield Tracer(provider, sample_ratio=config.sample_ratio)
    finally:
        provider.shutdown()


class BoundedSampler(Sampler):
    """Samples root traces and traces that the parent samples, up to a maximum per second."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._sampler = ParentBased(ALWAYS_ON)
        self._most = most
        self._clock = clock
        self._second = 0
        self._count = 0

    def should_sample(  # noqa: PLR0917  # as OpenTelemetry calls it
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        result = self._sampler.should_sample(
            parent_context, trace_id, name, kind, attributes, links, trace_state
        )
        parent = trace.get_current_span(parent_context).get_span_context()
        is_ours = parent.is_valid and not parent.is_remote
        if is_ours or result.decision is not Decision.RECORD_AND_SAMPLE or self._has_room():
            return result
        return SamplingResult(Decision.DROP)

    def get_description(self) -> str:
        return f"at most {self._most} traces a second"

    def _has_room(self) -> bool:
        second = int(self._clock())
        if second != self._second:
            self._second, self._count = second, 0
        self._count += 1
        return self._count <= self._most
