"""docs/troubleshooting.md has every reason of a refusal, every error type of an incident, every error of a start."""

import re

from google.protobuf.descriptor import EnumDescriptor

from gnomon.engine.v1 import incident_pb2
from gnomon.errors.v1 import reason_pb2
from gnomon.rest.v1 import options_pb2
from tests.docs.markdown import ROOT
from tests.docs.start_errors import start_errors

PAGE = (ROOT / "docs/troubleshooting.md").read_text()

# Faults of the package itself: no operator can cause or mend them.
FAULTS = {
    "expected a file …_name.sql, found …",
    "pg_controldata does not say whether … has checksums",
    "… cannot be configured",
}


def cells(heading: str) -> list[list[str]]:
    """Rows of the tables below a heading, without the row of their titles."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in rows]


def names(enum: EnumDescriptor, prefix: str) -> list[str]:
    return [value.name.removeprefix(prefix) for value in enum.values if value.number]


def test_each_reason_has_its_row_with_both_codes() -> None:
    reasons = reason_pb2.ErrorReason.DESCRIPTOR
    problems = [
        value.GetOptions().Extensions[options_pb2.problem] for value in reasons.values if value.number
    ]
    expected = [
        [f"`{name}`", str(problem.status), str(problem.code)]
        for name, problem in zip(names(reasons, "ERROR_REASON_"), problems, strict=True)
    ]

    assert [row[:3] for row in cells("A call is refused")] == expected


def test_each_error_type_of_an_incident_has_its_row() -> None:
    types = names(incident_pb2.IncidentErrorType.DESCRIPTOR, "INCIDENT_ERROR_TYPE_")

    assert [row[0].strip("`") for row in cells("A process instance stands still")] == types


def test_each_error_of_a_start_has_its_row() -> None:
    described = [pattern(row[0].strip("`")) for row in cells("The server does not start")]

    missing = [
        message
        for message in start_errors()
        if message not in FAULTS and not any(row.match(message) for row in described)
    ]

    assert missing == []


def pattern(message: str) -> re.Pattern[str]:
    """Every message that begins as the row says."""
    return re.compile(".+".join(map(re.escape, message.split("…"))))
