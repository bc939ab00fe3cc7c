"""Bytes of a random request to an operation."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from tests.campaigns.dice import Dice
from tests.requests.mutations import changed, garbled
from tests.requests.operations import Document, Operation, Parameter
from tests.requests.values import SCALARS, STRINGS, Json, Learned, Values

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_VARIABLE = re.compile(r"\{[^}]*\}")
LONGEST_TARGET = 8_000
BOUNDARY = "gnomon-boundary"
FORM, FILES, JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
OTHER_TYPES = ("text/plain", "application/xml", "", "application/json; charset=utf-16", "a/b/c", FORM, FILES)
# The first octets of what the image endpoints take.
IMAGES = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff\xe0",
    b"RIFF\x00\x00\x00\x00WEBP",
    b"<svg xmlns='http://www.w3.org/2000/svg'/>",
)


@dataclass(frozen=True, slots=True)
class Request:
    """As it is sent; one that `breaks_http` has control characters in its head."""

    operation: Operation
    content: bytes
    has_credential: bool
    breaks_http: bool


class Builder:
    """Half of the requests are what the document allows, with values at its bounds; the others differ at one place."""

    def __init__(self, dice: Dice, document: Document, learned: Learned, host: str) -> None:
        self._dice = dice
        self._values = Values(dice, document, learned)
        self._host = host
        self._files = [
            (path.name, path.read_bytes())
            for path in sorted(EXAMPLES.iterdir())
            if path.suffix in {".bpmn", ".dmn"}
        ]

    def request(self, operation: Operation, credentials: Mapping[str, str]) -> Request:
        has_credential = not self._one_of(25)
        target = self._target(operation)
        headers = {"host": self._host, **(credentials if has_credential else {})}
        headers |= {name: _line(value) for name, value in self._parameters(operation, "header")}
        media_type, body = self._body(operation)
        if operation.media_types:
            headers |= {"content-type": media_type, "content-length": str(len(body))}
        if self._one_of(40):
            headers["accept"] = self._dice.choice(("text/html", "image/*", "*/*;q=0", "", "application/json"))
        lines = [
            f"{operation.method} {target} HTTP/1.1",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
        breaks_http = any(_CONTROL.search(value) for value in headers.values())
        return Request(operation, head + body, has_credential, breaks_http)

    def _one_of(self, count: int) -> bool:
        return self._dice.between(1, count) == 1

    def _target(self, operation: Operation) -> str:
        path = operation.path
        for name, value in self._parameters(operation, "path"):
            path = path.replace(f"{{{name}}}", quote(value or "x", safe="%" if self._one_of(50) else ""))
        query = list(self._parameters(operation, "query"))
        if self._one_of(30):
            query.append((self._dice.choice(STRINGS), self._values.string()))
        target = f"{path}?{urlencode(query)}" if query else path
        # The listener refuses a longer line before it knows which operation is asked for.
        return target if len(target) <= LONGEST_TARGET else _VARIABLE.sub("x", operation.path)

    def _parameters(self, operation: Operation, place: str) -> Sequence[tuple[str, str]]:
        found = [each for each in operation.parameters if each.place == place]
        rarity = 2 if len(found) < 4 else 4
        if place == "header":
            rarity = 8
        return [
            (each.name, self._parameter(each, operation))
            for each in found
            if each.is_required or self._one_of(rarity)
        ]

    def _parameter(self, parameter: Parameter, operation: Operation) -> str:
        if self._one_of(8):
            return _text(self._dice.choice(SCALARS))
        return _text(self._values.of(parameter.schema, parameter.name, operation.family))

    def _body(self, operation: Operation) -> tuple[str, bytes]:
        """Return a media type and the content."""
        if not operation.media_types or not (operation.is_body_required or not self._one_of(20)):
            return JSON, b""
        media_type = self._dice.choice(operation.media_types)
        value = self._values.of(operation.body, "", operation.family) if operation.body else {}
        if self._one_of(3):
            value = changed(self._dice, value)
        content = self._content(media_type, value)
        if self._one_of(20):
            content = garbled(self._dice, content)
        if self._one_of(60):
            media_type = self._dice.choice(OTHER_TYPES)
        if media_type == FILES:
            return f"{FILES}; boundary={BOUNDARY}", content
        return media_type.replace("*", "png"), content

    def _content(self, media_type: str, value: Json) -> bytes:
        if media_type == JSON:
            return json.dumps(value).encode()
        if media_type == FORM:
            fields = value if isinstance(value, dict) else {"a": value}
            return urlencode([(name, _text(field)) for name, field in fields.items()]).encode(
                "ascii", "replace"
            )
        if media_type == FILES:
            return self._form(value if isinstance(value, dict) else {"file": value})
        return self._dice.choice(IMAGES) + bytes(self._dice.between(0, 255) for _ in range(30))

    def _form(self, fields: Mapping[str, Json]) -> bytes:
        parts: list[bytes] = []
        for field, value in fields.items():
            for item in value if isinstance(value, list) else [value]:
                name, content = self._dice.choice(self._files)
                if self._one_of(3):
                    content = garbled(self._dice, content)
                is_file = isinstance(item, str) and not self._one_of(4)
                label = f'name="{_line(field)}"' + (f'; filename="{name}"' if is_file else "")
                content = content if is_file else _text(item).encode("utf-8", "replace")
                parts.append(
                    f"--{BOUNDARY}\r\ncontent-disposition: form-data; {label}\r\n\r\n".encode()
                    + content
                    + b"\r\n"
                )
        return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _line(value: str) -> str:
    """Return the value without what would end a line of the head."""
    return value.replace("\r", " ").replace("\n", " ")
