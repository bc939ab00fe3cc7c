"""Generic resources for stories: files made ready as a deployment makes them."""

import json

from server.engine.deployment_commands import GenericFile
from server.partition.generic_resources import generic_files


def rpa_json(resource_id: str = "robot", *, tag: str | None = None, script: str = "one") -> bytes:
    document = {"id": resource_id, "script": script}
    return json.dumps(document if tag is None else {**document, "versionTag": tag}).encode()


def rpa(
    resource_id: str = "robot", *, name: str = "robot.rpa", tag: str | None = None, script: str = "one"
) -> GenericFile:
    problems: list[str] = []
    (file,) = generic_files([(name, rpa_json(resource_id, tag=tag, script=script))], problems)
    assert not problems
    return file
