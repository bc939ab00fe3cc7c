"""The published document, and a server that keeps to it whatever it is sent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
from openapi_spec_validator import validate

from server.platform.policy import Mode
from tests.end_to_end.servers import ROOT, Server

# Of each operation, beside those that cover its schema.
EXAMPLES = int(os.environ.get("GNOMON_EXAMPLES", "4"))

# Waiting an hour for jobs that never come is right, and slow.
ENVIRONMENT = {"GNOMON_JOBS__LONG_POLL_SECONDS": "0.05", "GNOMON_JOBS__LONGEST_POLL_SECONDS": "0.05"}


def test_the_document_is_valid_and_the_served_one_is_the_released_one(server: Server) -> None:
    published = json.loads((ROOT / "gen" / "openapi" / "gnomon.json").read_text())

    served = httpx.get(f"{server.http}/openapi.json").raise_for_status().json()

    validate(served)
    assert served["paths"].keys() == published["paths"].keys()


CHECKS = "status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance"
# Operations that a mode does not offer answer 501, as documented.
NOT_OFFERED = {Mode.EMBEDDED: "^/(api/v1|v1|v2/audit-logs)/", Mode.BUNDLED: "^/v2/clock"}


def _examined(server: Server, directory: Path, *arguments: str) -> None:
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.http}/openapi.json", "--no-color"),
        *("--header", f"Authorization: Bearer {server.token()}"),
        *("--max-examples", str(EXAMPLES), "--seed", "1", *arguments),
    ]

    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=600)

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_whatever_is_sent_no_answer_leaves_the_document(server: Server, tmp_path: Path) -> None:
    checks = ("--checks", f"not_a_server_error,{CHECKS}")
    if server.mode is Mode.EMBEDDED:
        _examined(server, tmp_path, "--exclude-path-regex", NOT_OFFERED[server.mode], *checks)
        return
    # What no schema allows is refused by the edge, which is the same in both modes: it is sent where embedded mode
    # offers nothing.
    _examined(server, tmp_path, "--include-path-regex", NOT_OFFERED[Mode.EMBEDDED], *checks)
    allowed = ("--phases", "examples,fuzzing,stateful")
    _examined(server, tmp_path, "--exclude-path-regex", NOT_OFFERED[server.mode], *allowed, *checks)


def test_what_the_mode_does_not_offer_answers_as_documented(server: Server, tmp_path: Path) -> None:
    _examined(server, tmp_path, "--include-path-regex", NOT_OFFERED[server.mode], "--checks", CHECKS)
