"""Metrics of the listener."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from edge.config import EdgeConfig
from server.platform.metrics import Metrics
from tests.edge.harness import Edge, running
from tests.edge.listener.test_bounds import HOSTS, polls
from tests.edge.listener.wire import HALF_HEAD, HEAD, connected

POST = b"POST /v2/jobs/1/failure HTTP/1.1\r\nHost: a\r\n"
SHORT = EdgeConfig(port=0, head_timeout_seconds=0.05, body_timeout_seconds=0.05)
PATIENT = EdgeConfig(port=0, max_head_bytes=1000)


@asynccontextmanager
async def counting(config: EdgeConfig) -> AsyncIterator[tuple[Edge, Metrics]]:
    metrics = Metrics()
    async with running("local", config, metrics=metrics) as edge:
        yield edge, metrics


def reported(metrics: Metrics, name: str) -> float:
    lines = metrics.exposition("")[0]().decode().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name} "))
    return float(line.rpartition(" ")[2])


@pytest.mark.parametrize(
    ("reason", "config", "data"),
    [
        ("head_timeout", SHORT, HALF_HEAD),
        ("body_timeout", SHORT, POST + b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n"),
        ("malformed", PATIENT, b"NONSENSE\r\n\r\n"),
        ("head_size", PATIENT, HALF_HEAD + b"X: aaaaaaaaaa\r\n" * 100),
    ],
)
async def test_a_refused_request_is_counted_by_its_reason(
    reason: str, config: EdgeConfig, data: bytes
) -> None:
    async with counting(config) as (edge, metrics), connected(edge) as client:
        await client.send(data)
        await client.end()

        assert reported(metrics, f'gnomon_http_refusals_total{{reason="{reason}"}}') == 1


async def test_refused_connections_and_those_that_gave_way_are_counted() -> None:
    config = replace(PATIENT, max_connections=2)
    async with (
        counting(config) as (edge, metrics),
        connected(edge, address=HOSTS[0]) as first,
        polls(edge, HOSTS[1], HOSTS[2]),
        connected(edge) as fourth,
    ):
        await fourth.answer()
        await first.end()

        assert reported(metrics, 'gnomon_http_refusals_total{reason="gave_way"}') == 1
        assert reported(metrics, 'gnomon_http_refusals_total{reason="connections"}') == 1
        assert reported(metrics, 'gnomon_http_connections{state="busy"}') == 2
        assert reported(metrics, 'gnomon_http_connections{state="free"}') == 0


async def test_answers_are_counted_by_their_status() -> None:
    async with counting(PATIENT) as (edge, metrics), connected(edge) as client:
        for _ in range(3):
            await client.send(HEAD)
            await client.answer()
        await client.send(b"GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        await client.rest()
        await asyncio.sleep(0)

        assert reported(metrics, 'gnomon_http_request_seconds_count{status="204"}') == 3
        assert reported(metrics, 'gnomon_http_request_seconds_count{status="404"}') == 1
