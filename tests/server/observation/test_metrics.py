"""Metrics of a whole deployment, as Prometheus reads them."""

import json
import re

import pytest

from edge.config import EdgeConfig
from identity.crypto.keys.config import EncryptionConfig
from identity.seeds import BootstrapConfig
from server.config import ServerConfig
from server.partition.config import ClusterConfig
from server.platform.policy import Mode
from server.platform.postgres.config import DatabaseConfig
from server.platform.sockets import free_port
from server.sections import Config
from tests.docs.markdown import ROOT
from tests.durable import new_database
from tests.server.observation.world import HOST, configuration, samples_of, value, values_of_label, world
from tests.waits import until_so

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
START = "gnomon.engine.v1.ProcessInstanceService/CreateProcessInstance"
SEARCH = "gnomon.engine.v1.ProcessInstanceService/SearchProcessInstances"
NAME = re.compile(r"gnomon_[a-z_]+")
# Suffixes that the formats add to the names of metrics.
SUFFIX = re.compile(r"_(total|bucket|sum|count|created)$")


@pytest.mark.parametrize("accept", ["", OPEN_METRICS], ids=["text", "openmetrics"])
async def test_what_happens_is_counted_where_it_happens(accept: str) -> None:
    async with world() as found:
        await found.deploy()
        await found.start()
        await found.client.post("/v2/process-instances/search", json={})
        await found.client.post("/v2/process-instances", json={"processDefinitionId": "nothing"})

        samples = samples_of(await found.scrape(accept))

    assert value(samples, "gnomon_commands_total", command="CreateProcessInstance", outcome="done") == 1
    assert value(samples, "gnomon_commands_total", command="CreateProcessInstance", outcome="not_found") == 1
    assert value(samples, "gnomon_call_seconds_count", rpc=START) == 2
    assert value(samples, "gnomon_call_seconds_count", rpc=SEARCH) == 1
    assert value(samples, "gnomon_call_failures_total", rpc=START, reason="NOT_FOUND") == 1
    assert value(samples, "gnomon_http_request_seconds_count", status="404") == 1
    assert (value(samples, "gnomon_commit_commands_sum") or 0) >= 3
    assert (value(samples, "gnomon_commit_seconds_count") or 0) >= 3
    assert (value(samples, "gnomon_turn_seconds_count") or 0) >= 3
    assert value(samples, "gnomon_partition_serving", partition="1") == 1
    assert value(samples, "gnomon_loaded_instances", partition="1") == 1
    assert value(samples, "gnomon_due_lag_seconds", partition="1") == 0
    assert value(samples, "gnomon_waiting_activations") == 0
    assert value(samples, "gnomon_waiting_completions") == 0
    assert value(samples, "gnomon_job_streams") == 0
    assert value(samples, "gnomon_pushed_jobs_total") == 0
    assert value(samples, "gnomon_event_loop_lag_seconds") is not None


async def test_a_token_is_counted() -> None:
    async with world() as found:
        samples = samples_of(await found.scrape())

    issued = value(samples, "gnomon_call_seconds_count", rpc="gnomon.identity.v1.TokenService/IssueToken")
    assert issued == 1


async def test_nothing_that_a_caller_sends_becomes_a_label() -> None:
    async with world() as found:
        before = samples_of(await found.scrape())
        for _ in range(2):
            await found.http.get("/marker/marker", headers={"x-tenant-id": "marker", "User-Agent": "marker"})
        await found.client.get("/v2/variables/1", headers={"x-tenant-id": "marker"})
        after = samples_of(await found.scrape())

    labels = {name for _, pairs in after for name, _ in pairs}
    assert values_of_label(before, "rpc") <= values_of_label(after, "rpc")
    assert not any("marker" in text for label in labels for text in values_of_label(after, label))


async def test_metrics_have_a_listener_of_their_own() -> None:
    async with world() as found:
        public = await found.http.get("/metrics")
        elsewhere = await found.http.get(f"http://{HOST}:{found.metrics_port}/v2/status")

    assert public.status_code == 404
    assert elsewhere.status_code == 404


async def test_without_metrics_there_is_no_listener() -> None:
    config = Config(edge=EdgeConfig(port=free_port(HOST)), grpc=configuration().grpc)

    assert not config.metrics.enabled


def durable_configuration(dsn: str) -> Config:
    return configuration(
        server=ServerConfig(mode=Mode.CLUSTER),
        database=DatabaseConfig(dsn=dsn),
        cluster=ClusterConfig(secret="secret", partitions=2, port=free_port(HOST)),
        bootstrap=BootstrapConfig(client_id="demo", client_secret="demo-secret", admin_password="demo"),
        encryption=EncryptionConfig(keys=("one/" + "A" * 43 + "=",)),
    )


async def test_every_metric_is_documented_and_drawn(postgres_dsn: str) -> None:
    dsn = await new_database(postgres_dsn, "metrics")
    async with world(durable_configuration(dsn)) as found:
        await found.deploy()
        await found.start()

        async def is_counted() -> bool:
            samples = samples_of(await found.scrape())
            return value(samples, "gnomon_retry_queue_tasks", queue="queued_letter") == 0

        await until_so(is_counted)
        answer = await found.scrape()

    samples = samples_of(answer)
    exposed = set(re.findall(r"^# TYPE (gnomon_\w+)", answer.text, re.MULTILINE))
    exposed = {SUFFIX.sub("", name) for name in exposed}
    documented = set(NAME.findall((ROOT / "docs/operating.md").read_text()))
    drawn = set(NAME.findall(json.dumps(json.loads((ROOT / "docs/grafana-dashboard.json").read_text()))))
    assert exposed == {SUFFIX.sub("", name) for name in documented}
    assert {SUFFIX.sub("", name) for name in drawn} == exposed
    assert (value(samples, "gnomon_lease_seconds", partition="1") or 0) > 0
    assert value(samples, "gnomon_outbox_lag_seconds", partition="2") is not None
    for pool in ("searches", "partitions", "rows", "identity"):
        assert value(samples, "gnomon_database_connections", pool=pool, state="busy") is not None
