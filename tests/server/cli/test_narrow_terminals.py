"""Every command that lists shows whole keys, however narrow the terminal: a person copies them."""

import json
import uuid
from pathlib import Path

import pytest

from server.bpmn.builder import process
from tests.server.cli.conftest import Ended, Gnomon
from tests.server.cli.terminal import seen, terminal

WIDTHS = [80, 40]


@pytest.fixture
def process_id(gnomon: Gnomon, tmp_path: Path) -> str:
    """A process of which one instance has an incident."""
    name = f"order-fulfilment-{uuid.uuid4().hex}"
    file = tmp_path / f"{name}.bpmn"
    file.write_bytes(process(name).start().service_task("charge-the-card", type=name).end().to_xml())
    gnomon("deploy", str(file))
    gnomon("start", name)
    gnomon("jobs", "work", name, "--exec", "sh -c 'echo card declined by the bank >&2; exit 1'", "--max", "3")
    return name


@pytest.mark.parametrize("width", WIDTHS)
def test_a_key_is_shown_whole(gnomon: Gnomon, process_id: str, width: int, tmp_path: Path) -> None:
    person = Gnomon({**gnomon.environment, **terminal(width)})
    (instance,) = gnomon("instances", "--process", process_id, "--json").json["items"]
    (incident,) = gnomon("incidents", "--process", process_id, "--json").json["items"]
    (job,) = gnomon("jobs", "list", "--type", process_id, "--json").json["items"]
    model = str(tmp_path / f"{process_id}.bpmn")
    deployed = gnomon("deploy", model, "examples/pricing.dmn", "--json").json["deployments"]
    definition = next(each["processDefinition"] for each in deployed if each["processDefinition"])
    decision = next(each["decisionDefinition"] for each in deployed if each["decisionDefinition"])

    shown = {
        instance["processInstanceKey"]: [
            person("instances", "--process", process_id),
            person("instances", instance["processInstanceKey"]),
        ],
        incident["incidentKey"]: [
            person("incidents", "--process", process_id),
            person("incidents", "resolve", incident["incidentKey"]),
        ],
        job["jobKey"]: [person("jobs", "list", "--type", process_id)],
        definition["processDefinitionKey"]: [person("deploy", model)],
        decision["decisionDefinitionKey"]: [person("deploy", "examples/pricing.dmn")],
    }

    for key, commands in shown.items():
        for ended in commands:
            expect_whole(ended, key, width)


def test_an_instance_key_leads_from_a_job_to_its_instance_in_80_columns(
    gnomon: Gnomon, process_id: str
) -> None:
    person = Gnomon({**gnomon.environment, **terminal(80)})
    (job,) = gnomon("jobs", "list", "--type", process_id, "--json").json["items"]

    expect_whole(person("jobs", "list", "--type", process_id), job["processInstanceKey"], 80)


def expect_whole(ended: Ended, key: str, width: int) -> None:
    lines = seen(ended.output)
    assert ended.exit_code == 0
    assert any(key in line.split() for line in lines), json.dumps(lines)
    assert max(map(len, lines)) <= width
    assert "\u2026" not in ended.output
