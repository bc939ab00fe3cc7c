"""Generic resources: the files of a deployment that are neither models nor forms, such as scripts of workers.

A file for robotic process automation (RPA) is JSON with an id and a version tag. Any other file has its name
as id, and no tag.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from server.engine.deployment_commands import GenericFile
from server.lint.linter import broken, describe
from server.lint.rule import Rule
from server.lint.rules.deployments import (
    MAX_RESOURCE_BYTES,
    MAX_RESOURCE_ID_LENGTH,
    RESOURCE_SIZE,
    RESOURCE_TEXT,
    RPA_ID,
    RPA_ID_LENGTH,
    RPA_READABLE,
)

RPA_ENDING = ".rpa"


class _Unfit(ValueError):
    """The content breaks a rule for generic resources."""

    def __init__(self, rule: Rule, detail: str) -> None:
        super().__init__(detail)
        self.rule = rule


class _Rpa(msgspec.Struct, rename="camel"):
    """The identity of an RPA file; other members are for its worker."""

    id: str
    version_tag: str | None = None


_decode = msgspec.json.Decoder(_Rpa).decode


def generic_files(files: Sequence[tuple[str, bytes]], problems: list[str]) -> list[GenericFile]:
    """The deployable resources; findings about the others are appended to `problems`."""
    return [file for name, content in files if (file := _file(name, content, problems))]


def _file(name: str, content: bytes, problems: list[str]) -> GenericFile | None:
    try:
        text = _text(content)
        resource_id, version_tag = _rpa_identity(content) if _is_rpa(name) else (name, None)
    except _Unfit as error:
        problems.append(describe((broken(error.rule, str(error)),), name))
        return None
    return GenericFile(name, text, hashlib.sha256(content).hexdigest(), resource_id, version_tag)


def _is_rpa(name: str) -> bool:
    return name.lower().endswith(RPA_ENDING)


def _text(content: bytes) -> str:
    if len(content) > MAX_RESOURCE_BYTES:
        detail = f"expected at most {MAX_RESOURCE_BYTES} bytes, found {len(content)}"
        raise _Unfit(RESOURCE_SIZE, detail)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise _Unfit(RESOURCE_TEXT, f"expected text in UTF-8: {error}") from error
    if "\0" in text:
        raise _Unfit(RESOURCE_TEXT, "expected text, found a NUL character")
    return text


def _rpa_identity(content: bytes) -> tuple[str, str | None]:
    """The id and version tag of an RPA file."""
    try:
        rpa = _decode(content)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _Unfit(RPA_READABLE, f"expected a JSON object with an id: {error}") from error
    if not rpa.id.strip():
        raise _Unfit(RPA_ID, "expected an id that is not blank")
    if max(len(rpa.id), len(rpa.version_tag or "")) > MAX_RESOURCE_ID_LENGTH:
        detail = f"expected an id and a version tag of at most {MAX_RESOURCE_ID_LENGTH} characters"
        raise _Unfit(RPA_ID_LENGTH, detail)
    return rpa.id, rpa.version_tag or None
