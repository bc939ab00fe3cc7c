import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from server.bpmn.builder import process, sub_process
from tests.server.cli.conftest import Gnomon
from tests.server.engine.form_files import form_json
from tests.waits import until_others


@pytest.fixture
def greeting(gnomon: Gnomon, tmp_path: Path) -> str:
    """Id of a process that was just deployed, whose one job has that type too."""
    process_id = f"greeting-{uuid.uuid4().hex}"
    file = tmp_path / f"{process_id}.bpmn"
    file.write_bytes(process(process_id).start().service_task("greet", type=process_id).end().to_xml())
    assert gnomon("deploy", str(file)).exit_code == 0
    return process_id


def started(gnomon: Gnomon, process_id: str, *options: str) -> str:
    return str(gnomon("start", process_id, "--json", *options).json["processInstanceKey"])


def arrived(gnomon: Gnomon, key: str, element_id: str) -> dict[str, Any]:
    """The process instance once it has come to this element: what waits may be in another partition."""
    shown: dict[str, Any] = {}

    def has_arrived() -> bool:
        shown.update(gnomon("instances", key, "--json").json)
        return element_id in [item["elementId"] for item in shown["elementInstances"]]

    until_others(has_arrived)
    return shown


def test_deploying_again_keeps_the_version(gnomon: Gnomon) -> None:
    first = gnomon("deploy", "examples/invoice-payment.bpmn", "examples/loan-approval.bpmn", "--json").json
    again = gnomon("deploy", "examples/invoice-payment.bpmn", "--json").json

    deployed = [found["processDefinition"] for found in first["deployments"]]
    assert [found["processDefinitionId"] for found in deployed] == ["invoice-payment", "loan-approval"]
    assert again["deployments"][0]["processDefinition"] == deployed[0]


def test_decisions_are_listed_as_they_are_deployed(gnomon: Gnomon) -> None:
    said = gnomon("deploy", "examples/pricing.dmn", "examples/invoice-payment.bpmn").output

    assert "invoice-payment" in said
    assert [line.split()[0] for line in said.splitlines() if "pricing" in line] == ["level", "discount"]


def test_forms_are_listed_as_they_are_deployed(gnomon: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / "address.form"
    file.write_bytes(form_json(f"form-{tmp_path.name}"))

    said = gnomon("deploy", str(file)).output

    (line,) = [line for line in said.splitlines() if tmp_path.name in line]
    assert line.split()[1] == "1"


def test_other_files_are_listed_as_resources(gnomon: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / f"{tmp_path.name}.py"
    file.write_text("pass")

    said = gnomon("deploy", str(file)).output

    (line,) = [line for line in said.splitlines() if tmp_path.name in line]
    assert line.split()[:2] == [file.name, "1"]


def test_a_started_instance_is_listed_with_its_variables(
    gnomon: Gnomon, greeting: str, tmp_path: Path
) -> None:
    file = tmp_path / "variables.json"
    file.write_text('{"name": "world", "large": 12345678901234567890}')

    key = started(gnomon, greeting, "--variables", f"@{file}")

    listed = gnomon("instances", "--process", greeting, "--state", "active", "--json").json["items"]
    assert [item["processInstanceKey"] for item in listed] == [key]
    shown = gnomon("instances", key, "--json").json
    assert shown["variables"] == {"name": "world", "large": 12345678901234567890}
    assert [item["elementId"] for item in shown["elementInstances"]] == ["start", "greet"]


def test_a_published_message_goes_to_what_waits_for_it(gnomon: Gnomon, tmp_path: Path) -> None:
    process_id = f"waiting-{uuid.uuid4().hex}"
    file = tmp_path / f"{process_id}.bpmn"
    waiting = process(process_id).message_catch("wait", message="paid", key="=id")
    file.write_bytes(waiting.service_task("ship", type=process_id).end().to_xml())
    assert gnomon("deploy", str(file)).exit_code == 0
    key = started(gnomon, process_id, "--variables", json.dumps({"id": process_id}))

    said = gnomon(
        *("messages", "publish", "paid", "--key", process_id, "--ttl", "60"),
        *("--variables", '{"amount": 5}', "--json"),
    )

    assert int(said.json["messageKey"]) > 0
    shown = arrived(gnomon, key, "ship")
    assert shown["variables"] == {"id": process_id, "amount": 5}
    assert [item["elementId"] for item in shown["elementInstances"]] == ["start", "wait", "ship"]


def test_a_correlated_message_begins_a_process(gnomon: Gnomon, tmp_path: Path) -> None:
    process_id = f"begun-{uuid.uuid4().hex}"
    file = tmp_path / f"{process_id}.bpmn"
    begun = process(process_id).start_message("begin", message=process_id)
    file.write_bytes(begun.service_task("ship", type=process_id).end().to_xml())
    assert gnomon("deploy", str(file)).exit_code == 0

    said = gnomon("messages", "correlate", process_id, "--variables", '{"amount": 5}', "--json")

    shown = gnomon("instances", said.json["processInstanceKey"], "--json").json
    assert shown["variables"] == {"amount": 5}
    assert [item["elementId"] for item in shown["elementInstances"]] == ["begin", "ship"]


def test_a_broadcast_signal_goes_to_what_waits_for_it(gnomon: Gnomon, tmp_path: Path) -> None:
    process_id = f"waiting-{uuid.uuid4().hex}"
    file = tmp_path / f"{process_id}.bpmn"
    waiting = process(process_id).signal_catch("wait", signal=process_id)
    file.write_bytes(waiting.service_task("ship", type=process_id).end().to_xml())
    assert gnomon("deploy", str(file)).exit_code == 0
    key = started(gnomon, process_id)

    said = gnomon("signals", "broadcast", process_id, "--variables", '{"level": 5}', "--json")

    assert int(said.json["signalKey"]) > 0
    shown = arrived(gnomon, key, "ship")
    assert shown["variables"] == {"level": 5}
    assert [item["elementId"] for item in shown["elementInstances"]] == ["start", "wait", "ship"]


def test_elements_of_an_instance_are_moved(gnomon: Gnomon, greeting: str) -> None:
    key = started(gnomon, greeting)
    task = {item["elementId"]: item for item in gnomon("instances", key, "--json").json["elementInstances"]}
    named = f"{task['greet']['elementInstanceKey']}=greet"

    moved = gnomon("instances", "modify", key, "--move", named, "--variables", '{"n": 1}', "--json").json
    ended = gnomon("instances", "modify", key, "--activate", "end", "--terminate", "greet", "--json").json

    states = [(item["elementId"], item["state"]) for item in moved["elementInstances"]]
    assert states == [("start", "COMPLETED"), ("greet", "TERMINATED"), ("greet", "ACTIVE")]
    assert moved["variables"] == {"n": 1}
    assert ended["state"] == "COMPLETED"


@pytest.mark.parametrize("words", [("--move", "greet"), ("--move", "=greet"), ("--terminate", "")])
def test_a_modification_is_written_as_it_should_be(
    gnomon: Gnomon, greeting: str, words: tuple[str, str]
) -> None:
    assert gnomon("instances", "modify", started(gnomon, greeting), *words).exit_code != 0


def test_an_instance_is_shown_as_a_tree_with_its_variables_and_incidents(
    gnomon: Gnomon, tmp_path: Path
) -> None:
    process_id = f"tree-{uuid.uuid4().hex}"
    inside = sub_process("packing").service_task("pack", type=process_id)
    file = tmp_path / f"{process_id}.bpmn"
    file.write_bytes(process(process_id).embed(inside, inputs={"box": "=size"}).end().to_xml())
    gnomon("deploy", str(file))
    key = started(gnomon, process_id, "--variables", '{"size": 3}')
    gnomon("jobs", "work", process_id, "--exec", "sh -c 'echo no boxes left >&2; exit 1'", "--max", "3")

    lines = gnomon("instances", "show", key).output.splitlines()
    tree = [line for line in lines[lines.index("") + 1 :] if line.strip()]

    depths = {line.lstrip("│├└─ ").split()[0]: len(line) - len(line.lstrip("│├└─ ")) for line in tree}
    assert list(depths) == [
        process_id,
        "size",
        "start",
        "packing",
        "box",
        "packing_start",
        "pack",
        "JOB_NO_RETRIES:",
    ]
    assert list(depths.values()) == [0, 4, 4, 4, 8, 8, 8, 12]
    assert "size = 3" in tree[1]
    assert "no boxes left" in tree[-1]


def test_an_instance_that_has_ended_is_deleted(gnomon: Gnomon, greeting: str) -> None:
    key = started(gnomon, greeting)
    assert gnomon("instances", "delete", key).exit_code == 1
    gnomon("instances", "cancel", key)

    assert key in gnomon("instances", "delete", key).output

    assert gnomon("instances", "show", key).exit_code == 1


def test_an_instance_is_cancelled(gnomon: Gnomon, greeting: str) -> None:
    key = started(gnomon, greeting)

    assert gnomon("instances", "cancel", key, "--json").json["state"] == "TERMINATED"
    assert gnomon("instances", "cancel", key).exit_code == 1


def test_an_instance_is_migrated(gnomon: Gnomon, greeting: str, tmp_path: Path) -> None:
    key, file = started(gnomon, greeting), tmp_path / f"{greeting}.bpmn"
    file.write_bytes(process(greeting).start().service_task("welcome", type=greeting).end().to_xml())
    (deployed,) = gnomon("deploy", str(file), "--json").json["deployments"]
    target = deployed["processDefinition"]["processDefinitionKey"]

    moved = gnomon("instances", "migrate", key, "--to", target, "--map", "greet=welcome", "--json").json
    again = gnomon("instances", "migrate", key, "--to", target, "--map", "welcome")

    assert moved["processDefinitionVersion"] == 2
    assert [item["elementId"] for item in moved["elementInstances"] if item["state"] == "ACTIVE"] == [
        "welcome"
    ]
    assert again.exit_code == 2


def test_models_are_linted_without_a_server(gnomon_alone: Gnomon, tmp_path: Path) -> None:
    broken = tmp_path / "broken.bpmn"
    broken.write_bytes(process("broken").start().node("serviceTask", "work").end().to_xml())
    unread = tmp_path / "unread.dmn"
    unread.write_text("no markup")

    fine = gnomon_alone("lint", "examples/trip-booking.bpmn", "examples/pricing.dmn")
    found = gnomon_alone("lint", str(broken), str(unread))
    nameless = tmp_path / "nameless.form"
    nameless.write_text('{"type": "default"}')
    refused = gnomon_alone("lint", str(nameless))
    items = json.loads(gnomon_alone("lint", str(broken), "--json").output)["items"]

    assert (fine.exit_code, fine.output) == (0, "")
    assert found.exit_code == 1
    assert f"{broken}:" in found.output
    assert f"{unread}:" in found.output
    assert (refused.exit_code, refused.output.startswith(f"{nameless}: error: The form needs")) == (1, True)
    assert [item["elementId"] for item in items if item["refuses"]] == ["work"]


def test_a_deleted_process_cannot_be_started(gnomon: Gnomon, greeting: str, tmp_path: Path) -> None:
    file = tmp_path / f"{greeting}.bpmn"
    key = gnomon("deploy", str(file), "--json").json["deployments"][0]["processDefinition"]

    said = gnomon("delete", key["processDefinitionKey"], "--json")

    assert said.json == {"resourceKey": key["processDefinitionKey"], "batchOperation": None}
    assert gnomon("start", greeting).exit_code != 0


def test_a_person_sees_tables(gnomon: Gnomon, greeting: str) -> None:
    key = started(gnomon, greeting)

    listed = gnomon("instances", "--process", greeting).output
    shown = gnomon("instances", key).output

    assert listed.split()[:4] == ["Key", "Process", "Version", "State"]
    assert key in listed
    assert "SERVICE_TASK" in shown


def test_a_user_task_is_listed_claimed_and_completed(gnomon: Gnomon, tmp_path: Path) -> None:
    process_id = f"review-{uuid.uuid4().hex}"
    file = tmp_path / "review.bpmn"
    model = process(process_id).user_task("review", assignment={"candidateGroups": "sales"}).end()
    file.write_bytes(model.to_xml())
    gnomon("deploy", str(file))
    instance = started(gnomon, process_id)

    (task,) = gnomon("tasks", "--process", process_id, "--group", "sales", "--json").json["items"]
    claimed = gnomon("tasks", "claim", task["userTaskKey"], "ann", "--json").json
    gnomon("tasks", "complete", task["userTaskKey"], "--variables", '{"ok": true}')

    assert claimed["assignee"] == "ann"
    shown = gnomon("instances", instance, "--json").json
    assert (shown["state"], shown["variables"]) == ("COMPLETED", {"ok": True})


def test_awaiting_a_completion_answers_with_the_variables(gnomon: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / "straight.bpmn"
    file.write_bytes(process("straight").start().end().to_xml())
    gnomon("deploy", str(file))

    answer = gnomon(
        "start", "straight", "--variables", '{"a": 1}', "--version", "1", "--await", "--json"
    ).json

    assert answer["variables"] == {"a": 1}


def test_awaiting_a_completion_has_an_end(gnomon: Gnomon, greeting: str) -> None:
    ended = gnomon("start", greeting, "--await", "--timeout", "1")

    assert ended.exit_code == 1
    assert ended.errors.startswith("error: DEADLINE_EXCEEDED: ")


def test_an_incident_is_listed_and_resolved(gnomon: Gnomon, greeting: str) -> None:
    key = started(gnomon, greeting)
    gnomon("jobs", "work", greeting, "--exec", "false", "--max", "3")

    (incident,) = gnomon("incidents", "--process", greeting, "--json").json["items"]
    resolved = gnomon("incidents", "resolve", incident["incidentKey"], "--json").json
    gnomon("jobs", "work", greeting, "--exec", "true", "--max", "1")

    assert (incident["processInstanceKey"], incident["errorType"]) == (key, "JOB_NO_RETRIES")
    assert resolved["state"] == "RESOLVED"
    assert gnomon("instances", key, "--json").json["state"] == "COMPLETED"


def test_a_dry_run_shows_the_number_of_items_and_changes_nothing(gnomon: Gnomon, greeting: str) -> None:
    key = started(gnomon, greeting, "--variables", '{"name": "Ada"}')
    chosen = ("--process", greeting, "--key", key, "--variable", 'name="Ada"', "--state", "active")

    previews = [
        gnomon("batch", "begin", operation, *chosen, "--dry-run", "--json").json
        for operation in ("cancel", "erase", "delete", "resolve")
    ]
    refused = gnomon("batch", "begin", "cancel", "--process", greeting, "--at-most", "250001")

    assert [(each["totalItems"], each["sampleKeys"]) for each in previews] == [(1, [key])] * 3 + [(0, [])]
    assert refused.exit_code == 2
    assert gnomon("instances", key, "--json").json["state"] == "ACTIVE"


def test_a_batch_operation_begins_with_conditions_that_are_understood(gnomon: Gnomon) -> None:
    without = gnomon("batch", "begin", "erase")
    misplaced = gnomon("batch", "begin", "cancel", "--business-id", "b-1", "--name", "name")
    malformed = gnomon("batch", "begin", "erase", "--variable", "name=Ada")

    assert (without.exit_code, "INVALID_ARGUMENT" in without.errors) == (1, True)
    assert (misplaced.exit_code, malformed.exit_code) == (2, 2)


def test_jobs_are_listed_by_type_and_state(gnomon: Gnomon, greeting: str) -> None:
    key = started(gnomon, greeting)

    (job,) = gnomon("jobs", "list", "--type", greeting, "--state", "created", "--json").json["items"]

    assert (job["processInstanceKey"], job["elementId"], job["retries"]) == (key, "greet", 3)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        pytest.param(
            ["start", "unheard-of"], 1, "NOT_FOUND: no process definition with id 'unheard-of'", id="process"
        ),
        pytest.param(["instances", "1"], 1, "NOT_FOUND: ", id="instance"),
        pytest.param(["incidents", "resolve", "1"], 1, "NOT_FOUND: ", id="incident"),
        pytest.param(["tasks", "claim", "1", "ann"], 1, "NOT_FOUND: ", id="user task"),
        *(
            pytest.param(["batch", verb, "1"], 1, "NOT_FOUND: ", id=f"{verb} a batch operation")
            for verb in ("show", "suspend", "resume", "cancel")
        ),
        pytest.param(["deploy", "proto/released.binpb.zst"], 1, "INVALID_ARGUMENT: ", id="no text"),
        pytest.param(["deploy", "nothing.bpmn"], 2, "cannot read nothing.bpmn", id="no file"),
        pytest.param(["start", "a", "--variables", "[1]"], 2, "JSON object", id="no object"),
        pytest.param(["start", "a", "--variables", "@nothing"], 2, "cannot read nothing", id="no variables"),
        pytest.param(["instances", "--client-secret", "wrong"], 1, "invalid_client: ", id="secret"),
        pytest.param(["instances", "--tenant", "elsewhere"], 1, "FORBIDDEN: ", id="tenant"),
        pytest.param(["jobs", "work", "a", "--exec", "no-such-program"], 2, "no-such-program", id="program"),
        pytest.param(
            ["instances", "--address", "127.0.0.1:1"], 1, "no server answers at 127.0.0.1:1", id="server"
        ),
    ],
)
def test_a_refusal_is_one_line(gnomon: Gnomon, arguments: list[str], exit_code: int, message: str) -> None:
    ended = gnomon(*arguments)

    assert (ended.exit_code, ended.output) == (exit_code, "")
    assert ended.errors.startswith("error: ")
    assert message in ended.errors
    assert len(ended.errors.splitlines()) == 1


def test_the_options_of_a_client_come_from_the_environment_too(gnomon: Gnomon) -> None:
    stranger = Gnomon({**gnomon.environment, "GNOMON_CLIENT__ID": "stranger"})

    assert "invalid_client" in stranger("instances").errors


@pytest.mark.parametrize("argument", ["--version", "version"])
def test_the_version_is_that_of_the_distribution(gnomon_alone: Gnomon, argument: str) -> None:
    assert gnomon_alone.process(argument).output == "gnomon 0.1.0\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["instances", "--process", "unheard-of"], "no process instances", id="instances"),
        pytest.param(["jobs", "list", "--type", "unheard-of"], "no jobs", id="jobs"),
        pytest.param(["incidents", "--process", "unheard-of"], "no incidents", id="incidents"),
        pytest.param(["tasks", "--process", "unheard-of"], "no user tasks", id="user tasks"),
        pytest.param(["batch"], "no batch operations", id="batch operations"),
    ],
)
def test_an_empty_list_is_a_sentence(gnomon: Gnomon, arguments: list[str], expected: str) -> None:
    ended = gnomon(*arguments)

    assert (ended.exit_code, ended.output) == (0, f"{expected}\n")
    assert gnomon(*arguments, "--json").json["items"] == []


def test_the_demo_completes_everything_on_a_server_of_its_own(gnomon_alone: Gnomon) -> None:
    summary = gnomon_alone("demo", "--instances", "12", "--json").json

    assert summary["isComplete"]
    processes = {process["processDefinitionId"]: process for process in summary["processes"]}
    assert {process_id: process["completed"] for process_id, process in processes.items()} == {
        path.stem: 12 for path in Path("examples").glob("*.bpmn")
    }
    assert processes["invoice-payment"]["incidentsResolved"] == 2


def test_the_demo_runs_beside_what_others_do(gnomon: Gnomon, greeting: str) -> None:
    started(gnomon, greeting)

    ended = gnomon("demo", "--instances", "4")

    assert ended.exit_code == 0
    assert "All completed in" in ended.output


def test_a_demo_that_does_not_complete_fails(gnomon_alone: Gnomon) -> None:
    ended = gnomon_alone("demo", "--instances", "400", "--timeout", "1", "--json")

    assert ended.exit_code == 1
    assert not json.loads(ended.output)["isComplete"]
