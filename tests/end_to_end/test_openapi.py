"""The published document, and a server that keeps to it whatever it is sent."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from server.platform.policy import Mode
from tests.end_to_end.servers import ROOT, Server

# Of each operation, beside those that cover its schema.
EXAMPLES = int(os.environ.get("GNOMON_EXAMPLES", "4"))

# Waiting an hour for jobs that never come is right, and slow.
ENVIRONMENT = {"GNOMON_JOBS__LONG_POLL_SECONDS": "0.05", "GNOMON_JOBS__LONGEST_POLL_SECONDS": "0.05"}


def test_the_document_is_valid_and_the_served_one_is_the_released_one(server: Server) -> None:
    served = httpx.get(f"{server.http}/openapi.json").raise_for_status().json()

    validate(served)
    assert served["paths"].keys() == _published()["paths"].keys()


def _published() -> Any:
    return json.loads((ROOT / "gen" / "openapi" / "gnomon.json").read_text())


CHECKS = "status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance"
# Operations that a mode does not offer answer 501, as documented.
NOT_OFFERED = {Mode.EMBEDDED: "^/(api/v1|v1|v2/audit-logs)/", Mode.BUNDLED: "^/v2/clock"}
# All filters consist of the same operators: the widest stands for all, except in long runs.
WIDEST_FILTER = "/v2/process-instances/search"
IS_LONG = "GNOMON_EXAMPLES" in os.environ
# So that no test takes all the time: each operation that every mode offers is of one of these.
PARTS = ("^/v2/[a-f]", "^/v2/[g-l]", "^/v2/[m-q]", "^/v2/r", "^/v2/[s-t]", "^/v2/[u-z]")


def _examined(server: Server, directory: Path, *arguments: str) -> None:
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.http}/openapi.json", "--no-color"),
        *("--header", f"Authorization: Bearer {server.token()}"),
        *("--max-examples", str(EXAMPLES), "--seed", "1", *arguments),
    ]

    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=600)

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_each_operation_of_both_modes_is_of_one_part() -> None:
    paths = _published()["paths"]
    offered = [path for path in paths if not any(re.search(part, path) for part in NOT_OFFERED.values())]

    found = {path: [part for part in PARTS if re.search(part, path)] for path in offered}

    assert {path: parts for path, parts in found.items() if len(parts) != 1} == {}


@pytest.mark.parametrize("part", PARTS)
def test_whatever_is_sent_no_answer_leaves_the_document(server: Server, tmp_path: Path, part: str) -> None:
    paths = ("--include-path-regex", part, "--exclude-path-regex", NOT_OFFERED[server.mode])
    checks = ("--checks", f"not_a_server_error,{CHECKS}")

    _examined(server, tmp_path, *paths, "--phases", "examples,fuzzing,stateful", *checks)


# The edge refuses what no schema allows, and is the same in both modes.
@pytest.mark.parametrize("server", [Mode.EMBEDDED], indirect=True)
@pytest.mark.parametrize("part", PARTS)
def test_what_no_schema_allows_is_refused_as_documented(server: Server, tmp_path: Path, part: str) -> None:
    left_out = [NOT_OFFERED[server.mode], *([] if IS_LONG else map(_exactly, _other_filters()))]
    paths = ("--include-path-regex", part, "--exclude-path-regex", "|".join(left_out))
    checks = ("--checks", f"not_a_server_error,{CHECKS}")

    _examined(server, tmp_path, *paths, "--phases", "coverage", *checks)


def _other_filters() -> Iterator[str]:
    """Paths of requests with a filter, except the widest."""
    document = _published()
    for path, methods in document["paths"].items():
        for operation in methods.values():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
            properties = document["components"]["schemas"].get(schema, {}).get("properties", {})
            if "filter" in properties and path != WIDEST_FILTER:
                yield path


def _exactly(path: str) -> str:
    return f"^{re.escape(path)}$"


@pytest.mark.parametrize("one_mode", NOT_OFFERED)
def test_operations_of_one_mode_answer_as_documented_in_both(
    server: Server, tmp_path: Path, one_mode: Mode
) -> None:
    is_refused = one_mode is server.mode
    phases = "examples,fuzzing" if is_refused else "examples,coverage,fuzzing,stateful"
    checks = CHECKS if is_refused else f"not_a_server_error,{CHECKS}"
    paths = ("--include-path-regex", NOT_OFFERED[one_mode])

    _examined(server, tmp_path, *paths, "--phases", phases, "--checks", checks)
