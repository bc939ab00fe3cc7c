"""Requests to the SCIM service of an application: RFC 7644.

    ScimFailure
    ├── Unreachable   the service answers nothing at the moment, so all requests wait
    └── Refused       the service refuses this resource, so only this resource waits
        ├── Conflict  another resource has the name
        └── Missing   there is no such resource

Errors show the status and the `scimType`, and no other text of the service.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from urllib.parse import quote

import msgspec

from identity.clients.scim_applications.documents import Document
from identity.delivery.http.exchange import Exchange, Response

MOST_OF_REMOTE_ID = 256
_PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
_MEDIA_TYPE = "application/scim+json"
# RFC 7644 §3.12.
_SCIM_TYPES = frozenset(
    (
        *("invalidFilter", "tooMany", "uniqueness", "mutability", "invalidSyntax", "invalidPath"),
        *("noTarget", "invalidValue", "invalidVers", "sensitive"),
    )
)
_DOTS = frozenset({".", ".."})
_NOT_FOUND, _CONFLICT = 404, 409
# Other statuses depend on the service or its credential: 401, 408, 429, 500 and above. A service may answer 403 because
# of the resource: Gnomon does for administrators.
_REFUSALS = frozenset({400, 403, 405, 409, 412, 413, 415, 422, 501})


class ResourceKind(StrEnum):
    """A type of resources, by its path, with the attribute that names a resource."""

    USERS = "Users"
    GROUPS = "Groups"

    @property
    def naming(self) -> str:
        return "userName" if self is ResourceKind.USERS else "displayName"


class ScimFailure(Exception):
    """A request that failed; `str` is the reason for administrators."""


class Unreachable(ScimFailure):
    """`retry_after` is the pause that the service asks for."""

    def __init__(self, reason: str, retry_after: timedelta = timedelta()) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Refused(ScimFailure):
    """The service refuses the resource."""


class Conflict(Refused):
    """Another resource has the name or the external id."""


class Missing(Refused):
    """The service has no such resource."""


class ScimService:
    """Each method raises Unreachable and Refused. `requests` is the number of requests so far."""

    def __init__(self, exchange: Exchange, base_uri: str, token: str) -> None:
        self._exchange = exchange
        self._base = base_uri.rstrip("/")
        self.requests = 0
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": _MEDIA_TYPE,
            "Content-Type": _MEDIA_TYPE,
        }

    async def create(self, kind: ResourceKind, document: Document) -> str:
        """Return the id of the new resource; raises Conflict."""
        try:
            created = await self._send("POST", kind, document)
        except Missing as error:
            # The address is wrong, not the resource.
            raise Unreachable(str(error)) from error
        remote_id = _id_of(created)
        if remote_id is None:
            raise Refused("the response has no id")
        return remote_id

    async def update(self, kind: ResourceKind, remote_id: str, document: Document) -> None:
        """Replace a user, or change the name of a group without its members; raises Missing."""
        if kind is ResourceKind.USERS:
            await self._send("PUT", _path(kind, remote_id), {**document, "id": remote_id})
            return
        values = {name: value for name, value in document.items() if name != "schemas"}
        await self._patch(kind, remote_id, [{"op": "replace", "value": values}])

    async def delete(self, kind: ResourceKind, remote_id: str) -> None:
        """Delete a resource, unless there is none."""
        try:
            await self._send("DELETE", _path(kind, remote_id))
        except Missing:
            return

    async def change_members(self, group_id: str, *, joins: Sequence[str], leaves: Sequence[str]) -> None:
        """Add and remove users; raises Missing."""
        values = [{"value": remote_id} for remote_id in joins]
        added = [{"op": "add", "path": "members", "value": values}] if values else []
        removed = [{"op": "remove", "path": f"members[value eq {_quoted(each)}]"} for each in leaves]
        await self._patch(ResourceKind.GROUPS, group_id, [*added, *removed])

    async def find(self, kind: ResourceKind, document: Document) -> str | None:
        """Return the id of the resource with the external id of the document, else of the one with its name."""
        for attribute in ("externalId", kind.naming):
            wanted = str(document[attribute])
            query = quote(f"{attribute} eq {_quoted(wanted)}", safe="")
            found = _read(await self._send("GET", f"{kind}?filter={query}&count=2"))
            resources = found.get("Resources")
            # A service may ignore the filter.
            matches = [
                each
                for each in (resources if isinstance(resources, list) else [])
                if isinstance(each, dict) and str(each.get(attribute, "")).lower() == wanted.lower()
            ]
            if len(matches) == 1:
                return _valid_id(matches[0].get("id"))
        return None

    async def test(self) -> None:
        """Read one user, which needs a valid token."""
        await self._send("GET", f"{ResourceKind.USERS}?startIndex=1&count=1")

    async def _patch(self, kind: ResourceKind, remote_id: str, operations: Sequence[Document]) -> None:
        document = {"schemas": [_PATCH_OP], "Operations": operations}
        await self._send("PATCH", _path(kind, remote_id), document)

    async def _send(self, method: str, path: str, document: Document | None = None) -> bytes:
        body = None if document is None else msgspec.json.encode(document)
        self.requests += 1
        response = await self._exchange.send(method, f"{self._base}/{path}", self._headers, body)
        if 200 <= response.status < 300:  # noqa: PLR2004  # RFC 9110 §15.3
            return response.body
        raise _failure(response)


def _failure(response: Response) -> ScimFailure:
    reason = _reason(response)
    if response.status == _NOT_FOUND:
        return Missing(reason)
    if response.status == _CONFLICT:
        return Conflict(reason)
    if response.status in _REFUSALS:
        return Refused(reason)
    return Unreachable(reason, response.retry_after)


def _reason(response: Response) -> str:
    if not response.status:
        return "no response"
    scim_type = _read(response.body).get("scimType")
    known = f" {scim_type}" if isinstance(scim_type, str) and scim_type in _SCIM_TYPES else ""
    return f"HTTP {response.status}{known}"


def _path(kind: ResourceKind, remote_id: str) -> str:
    return f"{kind}/{quote(remote_id, safe='')}"


def _id_of(body: bytes) -> str | None:
    return _valid_id(_read(body).get("id"))


def _valid_id(value: object) -> str | None:
    is_valid = (
        isinstance(value, str)
        and 0 < len(value) <= MOST_OF_REMOTE_ID
        and value.isprintable()
        and value not in _DOTS
    )
    return str(value) if is_valid else None


def _read(body: bytes) -> Mapping[str, object]:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _quoted(text: str) -> str:
    """RFC 7644 §3.4.2.2: values of filters are JSON."""
    return msgspec.json.encode(text).decode()
