"""Jobs as handlers see them, and variables as JSON objects."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from gnomon.engine.v1 import job_pb2

Variables = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Job:
    """An activated job. `deadline` is when the server offers it to other workers; `retries` include this attempt."""

    key: int
    type: str
    process_instance_key: int
    process_definition_id: str
    element_id: str
    tenant_id: str
    retries: int
    deadline: datetime
    headers: Mapping[str, str]
    variables: Variables
    message: job_pb2.ActivatedJob

    @classmethod
    def of(cls, message: job_pb2.ActivatedJob) -> "Job":
        return cls(
            key=message.job_key,
            type=message.type,
            process_instance_key=message.process_instance_key,
            process_definition_id=message.process_definition_id,
            element_id=message.element_id,
            tenant_id=message.tenant_id,
            retries=message.retries,
            deadline=datetime.fromtimestamp(message.deadline / 1000, tz=UTC),
            headers=dict(message.custom_headers),
            variables=decoded(message.variables),
            message=message,
        )


def encoded(variables: Variables | None) -> bytes:
    """A JSON object; raises TypeError or ValueError for values that JSON cannot express."""
    return json.dumps(dict(variables or {}), allow_nan=False).encode()


def decoded(variables: bytes) -> Variables:
    return cast("Variables", json.loads(variables)) if variables else {}
