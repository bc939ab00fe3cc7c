"""SCIM services in memory, at the port of outgoing requests: they count requests, refuse, fail and hang."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from identity.delivery.http.exchange import Response

Happening = Callable[[], Awaitable[None]]

_MEMBER = re.compile(r'members\[value eq "(.*)"\]')
_FILTER = re.compile(r'(\w+) eq "(.*)"')
_NAMES = {"Users": "userName", "Groups": "displayName"}


@dataclass
class FakeService:
    """`status` answers every request; `refused` are the names of resources that get a status of their own."""

    token: str = "t0ken"
    status: int = 0
    retry_after: timedelta = timedelta()
    refused: dict[str, int] = field(default_factory=dict)
    is_hanging: bool = False
    ignores_filters: bool = False
    lacks_patch: bool = False
    resources: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    ids: dict[tuple[str, str], str] = field(default_factory=dict)

    async def answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Response:
        parts = urlsplit(path)
        kind, _, remote_id = unquote(parts.path).strip("/").partition("/")
        document = json.loads(body) if body else {}
        self.requests.append((method, kind))
        if self.is_hanging:
            await asyncio.Event().wait()
        refusal = self._refusal(document.get(_NAMES[kind], ""), headers)
        if refusal is not None:
            return refusal
        if method == "GET":
            return self._found(kind, parse_qs(parts.query))
        if method == "POST":
            return self._created(kind, document)
        return (
            self._changed(method, kind, remote_id, document) if remote_id in self.resources else Response(404)
        )

    def _refusal(self, name: str, headers: Mapping[str, str]) -> Response | None:
        if self.status:
            return Response(self.status, b"", self.retry_after)
        if headers["Authorization"] != f"Bearer {self.token}":
            return Response(401)
        if name in self.refused:
            return Response(self.refused[name], b'{"scimType": "invalidValue", "detail": "internal text"}')
        return None

    def _created(self, kind: str, document: dict[str, Any]) -> Response:
        name = _NAMES[kind]
        other = self.resources.get(self.ids.get((kind, document[name]), ""), {})
        if other.get(name) == document[name]:
            return Response(409, b'{"scimType": "uniqueness"}')
        return self.keep(kind, {**document, "id": f"r{len(self.requests)}"}, 201)

    def _changed(self, method: str, kind: str, remote_id: str, document: dict[str, Any]) -> Response:
        if method == "PATCH" and self.lacks_patch:
            return Response(501)
        if method == "PUT":
            return self.keep(kind, document, 200)
        if method == "DELETE":
            del self.resources[remote_id]
        for operation in document.get("Operations", ()):
            self._patch(self.resources[remote_id], operation)
        return Response(204)

    def names(self, kind: str = "Users") -> dict[str, dict[str, Any]]:
        """Return the resources of a kind by their names."""
        return {each[_NAMES[kind]]: each for each in self.resources.values() if _NAMES[kind] in each}

    def members(self, group: str) -> set[str]:
        """Return the names of the users in a group."""
        ids = self.names("Groups")[group].get("members", set())
        return {self.resources[each]["userName"] for each in ids if each in self.resources}

    def keep(self, kind: str, document: dict[str, Any], status: int = 200) -> Response:
        assert _NAMES[kind] in document
        self.resources[document["id"]] = document
        self.ids[kind, document[_NAMES[kind]]] = document["id"]
        return Response(status, json.dumps(document).encode())

    def _found(self, kind: str, query: dict[str, list[str]]) -> Response:
        match = _FILTER.fullmatch(query.get("filter", [""])[0])
        found = list(self.names(kind).values())
        if match is not None and not self.ignores_filters:
            found = [each for each in found if each.get(match[1]) == match[2]]
        shown = [{name: value for name, value in each.items() if name != "members"} for each in found[:2]]
        return Response(200, json.dumps({"Resources": shown}).encode())

    def _patch(self, resource: dict[str, Any], operation: Mapping[str, Any]) -> None:
        path, members = operation.get("path", ""), resource.setdefault("members", set())
        if operation["op"] == "replace":
            resource.update(operation["value"])
        elif operation["op"] == "add":
            members.update(each["value"] for each in operation["value"])
        else:
            match = _MEMBER.fullmatch(path)
            assert match is not None
            members.discard(match[1])


@dataclass
class FakeServices:
    """Services by their base addresses; others do not answer.

    `before` runs before each request, `after` after it.
    """

    services: dict[str, FakeService] = field(default_factory=dict)
    before: Happening | None = None
    after: Happening | None = None

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None, /
    ) -> Response:
        if self.before is not None:
            await self.before()
        response = await self._sent(method, url, headers, body)
        if self.after is not None:
            await self.after()
        return response

    async def _sent(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        for base, service in self.services.items():
            if url.startswith(f"{base}/"):
                return await service.answer(method, url.removeprefix(base), headers, body)
        return Response(0)
