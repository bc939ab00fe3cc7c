"""The published document, and a server that keeps to it whatever it is sent."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from edge.openapi import render
from server.platform.policy import Mode
from tests.end_to_end.servers import ROOT, Server

# Of each operation, beside those that cover its schema.
EXAMPLES = int(os.environ.get("GNOMON_EXAMPLES", "4"))

# Waiting an hour for jobs that never come is right, and slow.
ENVIRONMENT = {"GNOMON_JOBS__LONG_POLL_SECONDS": "0.05", "GNOMON_JOBS__LONGEST_POLL_SECONDS": "0.05"}


def test_the_served_document_is_the_released_one(server: Server) -> None:
    served = httpx.get(f"{server.http}/openapi.json").raise_for_status().json()

    assert json.loads(render()) == served
    assert _published()["paths"].keys() == served["paths"].keys()


def _published() -> Any:
    return json.loads((ROOT / "gen" / "openapi" / "gnomon.json").read_text())


CHECKS = "status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance"
# Operations that a mode does not offer answer 501, as documented.
NOT_OFFERED = {
    Mode.EMBEDDED: "^/(api/v1|v1|v2/audit-logs)/(?!.*/timers)",
    Mode.BUNDLED: "^/v2/clock|/timers(/|$)",
}
# All filters consist of the same operators: the widest stands for all, except in long runs.
WIDEST_FILTER = "/v2/process-instances/search"
FILTER = "ProcessInstanceFilter"
IS_LONG = "GNOMON_EXAMPLES" in os.environ
# So that no test takes all the time: each operation that every mode offers is of one of these.
PARTS = ("^/v2/[a-i]", "^/v2/[j-q]", "^/v2/[r-z]") if IS_LONG else ("^/v2/[a-l]", "^/v2/[m-z]")
# Half of the examples are what no schema allows. The edge refuses it the same in both modes, so one is sent it.
EXPLORED = {
    Mode.EMBEDDED: ("--mode", "all"),
    Mode.BUNDLED: ("--mode", "positive", "--max-examples", str(EXAMPLES - EXAMPLES // 2)),
}


def _examined(server: Server, directory: Path, *arguments: str, document: Path | None = None) -> None:
    location = (f"{server.http}/openapi.json",) if document is None else (str(document), "--url", server.http)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", *location, "--no-color"),
        *("--header", f"Authorization: Bearer {server.token()}"),
        *("--max-examples", str(EXAMPLES), "--seed", "1", "--generation-database", "none", *arguments),
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

    _examined(
        server, tmp_path, *paths, "--phases", "examples,fuzzing,stateful", *checks, *EXPLORED[server.mode]
    )


# The edge refuses what no schema allows, and is the same in both modes.
@pytest.mark.parametrize("server", [Mode.EMBEDDED], indirect=True)
@pytest.mark.parametrize("part", PARTS)
def test_what_no_schema_allows_is_refused_as_documented(server: Server, tmp_path: Path, part: str) -> None:
    left_out = [
        NOT_OFFERED[server.mode],
        *([] if IS_LONG else map(_exactly, _with_other_filters(_published()))),
    ]
    paths = ("--include-path-regex", part, "--exclude-path-regex", "|".join(left_out))

    _refusals_examined(server, tmp_path, *paths)


def _refusals_examined(server: Server, directory: Path, *paths: str) -> None:
    served = httpx.get(f"{server.http}/openapi.json").raise_for_status().json()
    document = directory / "openapi.json"
    document.write_text(json.dumps(served if IS_LONG else _without_repetition(served)))
    checks = ("--checks", f"not_a_server_error,{CHECKS}")

    _examined(server, directory, *paths, "--phases", "coverage", *checks, document=document)


def _without_repetition(document: Any) -> Any:
    """Return the document with one filter, the widest, which has one member of each type.

    The alternatives of `$or` have the same members, so they keep one.
    """
    schemas = document["components"]["schemas"]
    for path in _with_other_filters(document):
        del schemas[_request_of(document["paths"][path]["post"])]["properties"]["filter"]
    members, alternatives = (schemas[name]["properties"] for name in (FILTER, f"{FILTER}Fields"))
    of_each_type = {_type(member): name for name, member in members.items()}
    schemas[FILTER]["properties"] = {name: members[name] for name in of_each_type.values()}
    schemas[f"{FILTER}Fields"]["properties"] = dict([next(iter(alternatives.items()))])
    return document


def _with_other_filters(document: Any) -> list[str]:
    """Return the paths of requests with a filter, except the widest."""
    schemas = document["components"]["schemas"]
    return [
        path
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if "filter" in schemas.get(_request_of(operation), {}).get("properties", {}) and path != WIDEST_FILTER
    ]


def _request_of(operation: Any) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    reference: str = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    return reference.rpartition("/")[2]


def _type(member: Any) -> str:
    return json.dumps({name: value for name, value in member.items() if name != "description"})


def _exactly(path: str) -> str:
    return f"^{re.escape(path)}$"


@pytest.mark.parametrize("one_mode", NOT_OFFERED)
def test_operations_of_one_mode_answer_as_documented_in_both(
    server: Server, tmp_path: Path, one_mode: Mode
) -> None:
    is_refused = one_mode is server.mode
    phases = "examples,fuzzing" if is_refused else "examples,fuzzing,stateful"
    checks = CHECKS if is_refused else f"not_a_server_error,{CHECKS}"
    paths = ("--include-path-regex", NOT_OFFERED[one_mode])

    _examined(server, tmp_path, *paths, "--phases", phases, "--checks", checks)
    if not is_refused:
        _refusals_examined(server, tmp_path, *paths)
