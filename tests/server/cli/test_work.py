import json
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from server.bpmn.builder import process
from tests.server.cli.conftest import SECONDS, Gnomon
from tests.server_process import COMMAND, ROOT, Addresses, killed_at_the_end

PROGRAM = """
import json, os, sys
variables = json.load(sys.stdin)
print(json.dumps({"text": f"Hello {variables['name']}", "key": os.environ["GNOMON_JOB_KEY"]}))
"""

# Goes on when the other side closes the connection.
WAITING_PROGRAM = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as waited:
    waited.recv(1)
"""


@pytest.fixture
def job_type(gnomon: Gnomon, tmp_path: Path) -> str:
    """Type of a job that waits, whose process has the same id."""
    name = f"greeting-{uuid.uuid4().hex}"
    file = tmp_path / f"{name}.bpmn"
    file.write_bytes(process(name).start().service_task("greet", type=name).end().to_xml())
    gnomon("deploy", str(file))
    assert gnomon("start", name, "--variables", '{"name": "world"}').exit_code == 0
    return name


def job_of(gnomon: Gnomon, job_type: str) -> dict[str, object]:
    (job,) = gnomon("jobs", "list", "--type", job_type, "--json").json["items"]
    return dict(job)


def test_a_program_gets_variables_and_facts_and_answers_with_variables(
    gnomon: Gnomon, job_type: str, tmp_path: Path
) -> None:
    program = tmp_path / "greet.py"
    program.write_text(PROGRAM)

    (done,) = gnomon(
        "jobs", "work", job_type, "--exec", f"{sys.executable} {program}", "--max", "1", "--json"
    ).lines

    instance = gnomon("instances", done["processInstanceKey"], "--json").json
    assert done["outcome"] == "completed"
    assert instance["state"] == "COMPLETED"
    assert instance["variables"] == {"name": "world", "text": "Hello world", "key": done["jobKey"]}


def test_a_program_that_fails_gives_the_job_back_with_one_try_less(gnomon: Gnomon, job_type: str) -> None:
    ended = gnomon(
        "jobs", "work", job_type, "--exec", "sh -c 'echo card declined >&2; exit 3'", "--max", "1", "--json"
    )

    job = job_of(gnomon, job_type)
    assert json.loads(ended.output)["outcome"] == "failed"
    assert (job["state"], job["retries"], job["errorMessage"]) == ("FAILED", 2, "card declined")


@pytest.mark.parametrize("output", ["[1]", "hello", '{"a":'])
def test_what_is_no_json_object_fails_the_job(gnomon: Gnomon, job_type: str, output: str) -> None:
    gnomon("jobs", "work", job_type, "--exec", f"echo '{output}'", "--max", "1")

    job = job_of(gnomon, job_type)
    assert job["state"] == "FAILED"
    assert "expected a JSON object on standard output" in str(job["errorMessage"])


def test_a_program_that_takes_too_long_is_ended(gnomon: Gnomon, job_type: str) -> None:
    ended = gnomon("jobs", "work", job_type, "--exec", "sleep 60", "--timeout", "1", "--max", "1")

    assert ended.exit_code == 1
    assert "took longer than 1 s" in ended.output or "withdrawn" in ended.output


def test_a_worker_that_completed_nothing_has_failed(gnomon: Gnomon, job_type: str) -> None:
    ended = gnomon("jobs", "work", job_type, "--exec", "false", "--max", "2")

    assert (ended.exit_code, ended.output.splitlines()[-1]) == (1, "2 failed")


def test_a_worker_that_completed_a_job_has_not_failed(gnomon: Gnomon, job_type: str, tmp_path: Path) -> None:
    second_time_only = f"sh -c 'test -e {tmp_path}/tried || {{ touch {tmp_path}/tried; exit 1; }}'"

    ended = gnomon("jobs", "work", job_type, "--exec", second_time_only, "--max", "2")

    assert (ended.exit_code, ended.output.splitlines()[-1]) == (0, "1 completed, 1 failed")


def test_ctrl_c_lets_the_job_that_is_begun_end(
    addresses: Addresses, gnomon: Gnomon, job_type: str, tmp_path: Path
) -> None:
    program = tmp_path / "wait.py"
    program.write_text(WAITING_PROGRAM)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        command = f"{sys.executable} {program} {listener.getsockname()[1]}"
        arguments = ["jobs", "work", job_type, "--exec", command, "--address", addresses.grpc, "--json"]
        worker = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        with killed_at_the_end(worker):
            begun, _ = listener.accept()
            with begun:
                worker.send_signal(signal.SIGINT)
            output, _ = worker.communicate(timeout=SECONDS)

    assert worker.returncode == 0
    assert json.loads(output)["outcome"] == "completed"
    assert job_of(gnomon, job_type)["state"] == "COMPLETED"


def test_the_example_worker_charges_cards(addresses: Addresses, gnomon: Gnomon) -> None:
    variables = {"order": {"number": 1, "customer": "c-1", "items": [{"quantity": 2, "price": 1.5}]}}
    gnomon("deploy", "examples/order-fulfilment.bpmn")
    gnomon("start", "order-fulfilment", "--variables", json.dumps(variables))
    gnomon("jobs", "work", "check-stock", "--exec", "echo '{\"inStock\": true}'", "--max", "1")
    worker = subprocess.Popen(
        [sys.executable, "examples/worker.py", addresses.grpc], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )

    with killed_at_the_end(worker):
        assert worker.stdout is not None
        line = worker.stdout.readline()

    assert line == "charged 3 to c-1\n"


def test_the_example_of_http_finds_what_it_started(addresses: Addresses) -> None:
    ended = subprocess.run(
        [ROOT / "examples" / "http.sh", addresses.http],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )

    deployed, started, found = map(json.loads, ended.stdout.splitlines())
    assert deployed["deployments"][0]["processDefinition"]["processDefinitionId"] == "order-fulfilment"
    assert started["processInstanceKey"] in [item["processInstanceKey"] for item in found["items"]]
