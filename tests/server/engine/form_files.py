"""Forms for stories: files made ready as a deployment makes them."""

import json

from server.engine.deployment_commands import FormFile
from server.partition.forms import form_files


def form_json(form_id: str = "address", *, tag: str | None = None, **members: object) -> bytes:
    document = {"id": form_id, "type": "default", "components": [], **members}
    return json.dumps(document if tag is None else {**document, "versionTag": tag}).encode()


def form(
    form_id: str = "address", *, name: str = "address.form", tag: str | None = None, **members: object
) -> FormFile:
    problems: list[str] = []
    files = form_files([(name, form_json(form_id, tag=tag, **members))], problems)
    assert not problems
    return files[0]
