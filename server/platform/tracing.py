"""Traces of requests through the processes of a deployment (W3C Trace Context), exported with OpenTelemetry.

The current span is ambient, so calls to other processes carry it implicitly. Without a tracer no span is
started; the only cost is a lookup of the current span.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, Span, SpanContext, SpanKind, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

TRACEPARENT = "traceparent"

_propagator = TraceContextTextMapPropagator()
_is_left_out: ContextVar[bool] = ContextVar("is_left_out", default=False)
_NO_SPAN = nullcontext(INVALID_SPAN)


class Tracer:
    """Starts spans of this process; of requests without a trace, the fraction `sample_ratio` starts one."""

    def __init__(self, provider: TracerProvider, *, sample_ratio: float) -> None:
        self._tracer = provider.get_tracer("gnomon")
        self._sample_ratio = sample_ratio
        self._share = 0.0

    def span(
        self, name: str, kind: SpanKind, *, carrier: Mapping[str, str] | None = None
    ) -> AbstractContextManager[Span]:
        """Trace a block as part of the carrier's trace, else of the current one, else of a new one.

        An exception that leaves the block marks the span as an error.
        """
        context = _carried_by(carrier)
        if context is None and (_is_left_out.get() or not self._continues()):
            return _NO_SPAN
        return self._tracer.start_as_current_span(name, context, kind=kind, record_exception=False)

    def _continues(self) -> bool:
        """Whether to trace: there is a current trace, or the request is the n-th one without a trace."""
        if trace.get_current_span().get_span_context().is_valid:
            return True
        self._share += self._sample_ratio
        if self._share >= 1:
            self._share -= 1
            return True
        # Each request has its own task and context, so calls made by this request are not traced either.
        _is_left_out.set(True)
        return False

    def note(
        self,
        name: str,
        parent: SpanContext,
        *,
        began: int,
        ended: int,
        attributes: Mapping[str, str | int] | None = None,
    ) -> SpanContext:
        """Add a finished span with its start and end in nanoseconds since 1970."""
        context = trace.set_span_in_context(NonRecordingSpan(parent))
        span = self._tracer.start_span(name, context, attributes=attributes, start_time=began)
        span.end(ended)
        return span.get_span_context()


def current_trace() -> SpanContext | None:
    """Return the context of the current span if it is recorded."""
    span = trace.get_current_span()
    return span.get_span_context() if span.is_recording() else None


def carried(metadata: Sequence[tuple[str, str]] | None) -> Sequence[tuple[str, str]] | None:
    """Add the current trace to the metadata of a call to another process."""
    if not trace.get_current_span().get_span_context().is_valid:
        return metadata
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    others = [pair for pair in metadata or () if pair[0] not in carrier]
    return [*others, *carrier.items()]


def _carried_by(carrier: Mapping[str, str] | None) -> Context | None:
    """Return the caller's trace, or None without a well-formed one."""
    if carrier is None or TRACEPARENT not in carrier:
        return None
    context = _propagator.extract(carrier)
    return context if trace.get_current_span(context).get_span_context().is_remote else None
