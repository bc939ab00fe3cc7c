"""Metrics and traces of a process, each present if configured."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from server.platform.loop_lag import LoopLag
from server.platform.metrics import Metrics
from server.platform.observation_config import MetricsConfig, TracingConfig
from server.platform.tracing import Tracer


@dataclass(frozen=True, slots=True)
class Observation:
    metrics: Metrics | None = None
    tracer: Tracer | None = None


@asynccontextmanager
async def observing(metrics: MetricsConfig, traces: TracingConfig) -> AsyncIterator[Observation]:
    async with AsyncExitStack() as stack:
        tracer = stack.enter_context(_tracer(traces)) if traces.enabled else None
        if not metrics.enabled:
            yield Observation(tracer=tracer)
            return
        found = Metrics()
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        measuring = tasks.create_task(LoopLag(found).run())
        stack.callback(measuring.cancel)
        yield Observation(found, tracer)


def _tracer(config: TracingConfig) -> AbstractContextManager[Tracer]:
    # Importing the SDK takes a tenth of a second, and few processes need it.
    from server.platform.trace_export import exporting  # noqa: PLC0415

    return exporting(config)
