"""Each process of bundled mode is read by itself."""

import os

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.campaigns.ports import kept_port
from tests.server_process import server_in
from tests.waits import until_others

HOST = "127.0.0.1"


def test_each_process_has_metrics_of_its_own() -> None:
    processes = min(2, os.cpu_count() or 1)
    port = kept_port(HOST, in_a_row=processes)
    environment = {
        "GNOMON_CLUSTER__PARTITIONS": str(processes),
        "GNOMON_METRICS__ENABLED": "true",
        "GNOMON_METRICS__PORT": str(port),
        "GNOMON_METRICS__SAMPLE_SECONDS": "0.1",
    }
    ports = range(port, port + processes)
    with server_in("bundled", environment=environment):
        # The process that starts first serves every partition until the other one joins.
        until_others(lambda: all(len(_serving(port)) == 1 for port in ports))

        found = [_serving(port) for port in ports]

    assert set().union(*found) == {str(number + 1) for number in range(processes)}


def _serving(port: int) -> set[str]:
    """List the partitions that the process with this port for its metrics serves."""
    text = httpx.get(f"http://{HOST}:{port}/metrics").raise_for_status().text
    return {
        sample.labels["partition"]
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "gnomon_partition_serving" and sample.value
    }
