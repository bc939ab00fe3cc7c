"""JSON over gRPC as people type it: `buf curl` learns the messages by reflection, as grpcurl does."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from server.bpmn.builder import process
from tests.end_to_end.servers import Server

BUF = shutil.which("buf", path=str(Path(sys.executable).parent)) or "buf"
CONTENT = process("typed").start().service_task("task", type="typed").end().to_xml()


def called(server: Server, method: str, message: object) -> subprocess.CompletedProcess[str]:
    command = [
        *(BUF, "curl", "--protocol", "grpc", "--http2-prior-knowledge"),
        *("--header", f"Authorization: Bearer {server.token()}"),
        *("--data", json.dumps(message), f"http://{server.grpc}/gnomon.engine.v1.{method}"),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


def answer(server: Server, method: str, message: object) -> Any:
    done = called(server, method, message)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def deploy(server: Server) -> None:
    headers = {"Authorization": f"Bearer {server.token()}"}
    files = {"resources": ("typed.bpmn", CONTENT)}
    httpx.post(f"{server.http}/v2/deployments", headers=headers, files=files).raise_for_status()


def test_variables_are_typed_and_read_as_json(server: Server) -> None:
    deploy(server)

    start = {"process_definition_id": "typed", "variables": '{"city": "Köln", "total": 120}'}
    answer(server, "ProcessInstanceService/CreateProcessInstance", start)
    wanted = {"type": "typed", "timeout": 60_000, "max_jobs_to_activate": 1}
    (job,) = answer(server, "JobService/ActivateJobs", wanted)["jobs"]

    assert json.loads(job["variables"]) == {"city": "Köln", "total": 120}


def test_text_that_is_no_json_is_refused(server: Server) -> None:
    deploy(server)

    start = {"process_definition_id": "typed", "variables": "city=Köln"}
    refused = called(server, "ProcessInstanceService/CreateProcessInstance", start)

    assert refused.returncode != 0
    assert "invalid_argument" in refused.stderr


def test_a_value_that_is_no_object_is_typed_too(server: Server) -> None:
    evaluated = answer(server, "ExpressionService/EvaluateExpression", {"expression": '="a" + "b"'})

    assert evaluated["result"] == '"ab"'
