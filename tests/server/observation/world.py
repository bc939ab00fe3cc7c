"""A whole deployment in this process, observed, with a client that may do everything."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as text_format

from edge.config import EdgeConfig
from server.bundle import serving
from server.platform.grpc_server import GrpcConfig
from server.platform.observation import Observation
from server.platform.observation_config import MetricsConfig, TracingConfig
from server.platform.sockets import free_port
from server.platform.trace_export import BoundedSampler
from server.platform.tracing import Tracer
from server.sections import Config

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "order-fulfilment.bpmn"
ORDER = {"order": {"number": 1, "customer": "c-1", "items": [{"quantity": 2, "price": 1.5}]}}
HOST = "127.0.0.1"
SECRET = "secret of edges and services"

Labels = frozenset[tuple[str, str]]
Samples = Mapping[tuple[str, Labels], float]


@dataclass(frozen=True)
class World:
    """`http` is not signed in, `client` is; `metrics_port` is that of Prometheus."""

    http: httpx.AsyncClient
    client: httpx.AsyncClient
    metrics_port: int
    grpc: str

    async def deploy(self) -> None:
        files = {"resources": (EXAMPLE.name, EXAMPLE.read_bytes())}
        answer = await self.client.post("/v2/deployments", files=files)
        assert answer.status_code == 200, answer.text

    async def start(self, **headers: str) -> httpx.Response:
        body = {"processDefinitionId": "order-fulfilment", "variables": ORDER}
        return await self.client.post("/v2/process-instances", json=body, headers=headers)

    async def scrape(self, accept: str = "") -> httpx.Response:
        url = f"http://{HOST}:{self.metrics_port}/metrics"
        return await self.http.get(url, headers={"Accept": accept} if accept else {})


def configuration(**sections: object) -> Config:
    """Return one on free ports, with metrics."""
    ports = {
        "edge": EdgeConfig(port=free_port(HOST), secret=SECRET),
        "grpc": GrpcConfig(port=free_port(HOST)),
    }
    metrics = MetricsConfig(enabled=True, port=free_port(HOST), sample_seconds=0.05)
    return Config(**{**ports, "metrics": metrics, **sections})  # type: ignore[arg-type]  # by their names


@asynccontextmanager
async def world(
    config: Config | None = None,
    observation: Observation | None = None,
    credentials: tuple[str, str] = ("demo", "demo-secret"),
) -> AsyncIterator[World]:
    config = config or configuration()
    async with (
        serving(config, observation=observation) as addresses,
        httpx.AsyncClient(base_url=addresses.http, timeout=30) as http,
    ):
        token = await http.post(
            "/auth/v1/oidc/token", auth=credentials, data={"grant_type": "client_credentials"}
        )
        headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
        async with httpx.AsyncClient(base_url=addresses.http, headers=headers, timeout=30) as client:
            yield World(http, client, config.metrics.port, addresses.grpc)


def samples_of(answer: httpx.Response) -> Samples:
    """Parse an exposition as Prometheus does."""
    assert answer.status_code == 200
    is_open = answer.headers["content-type"].startswith("application/openmetrics-text")
    families = (open_metrics if is_open else text_format)(answer.text)
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((name, frozenset(labels.items())))


def values_of_label(samples: Samples, label: str) -> set[str]:
    return {text for _, labels in samples for name, text in labels if name == label}


@dataclass(frozen=True)
class Recording:
    """Spans, as far as they have ended."""

    observation: Observation
    exporter: InMemorySpanExporter

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.spans if span.name == name)
        return found


def recording(config: TracingConfig | None = None) -> Recording:
    """Record every trace, unless the configuration says otherwise."""
    exporter = InMemorySpanExporter()
    config = config or TracingConfig(sample_ratio=1, max_traces_per_second=1_000_000)
    provider = TracerProvider(sampler=BoundedSampler(config.max_traces_per_second))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Recording(Observation(tracer=Tracer(provider, sample_ratio=config.sample_ratio)), exporter)
