"""Sources of authorization request parameters: pushed requests, request objects, or the query itself.

The first source that applies supplies all parameters. Parameters beside a pushed or signed request are ignored, except
the client id (RFC 9101 §6.3, RFC 9126 §4).
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.request_objects import RequestObjects
from identity.delivery.http.documents import UnreadableDocument
from identity.directory.client import Client
from identity.foundation.errors import (
    InvalidRequest,
    InvalidRequestUri,
    RequestNotSupported,
    RequestUriNotSupported,
)
from identity.foundation.tenants import Tenant
from server.platform.errors import Unavailable

# RFC 9101 §5.2.1, and older media types.
_MEDIA_TYPES = "application/oauth-authz-req+jwt, application/jwt;q=0.9, */*;q=0.1"
_MOST_READ_AT_ONCE = 20


class ParameterSource(Protocol):
    async def resolve(self, tenant: Tenant, client: Client, parameters: Parameters) -> Parameters | None:
        """Return the parameters, or None when this source does not apply; raises a ProtocolError."""
        ...


class Documents(Protocol):
    async def read(self, uri: str, /, *, accept: str) -> str: ...


async def resolved(
    sources: Sequence[ParameterSource], tenant: Tenant, client: Client, *, parameters: Parameters
) -> Parameters:
    """Raises a ProtocolError."""
    # RFC 9101 §5.
    if parameters.all("request") and parameters.all("request_uri"):
        raise InvalidRequest("request and request_uri exclude each other")
    for source in sources:
        found = await source.resolve(tenant, client, parameters)
        if found is not None:
            return found
    raise RequestNotSupported("such requests are not supported")


class RequiredPush:
    """Refuses requests through the browser from a client that must push its requests: RFC 9126 §5."""

    async def resolve(self, _tenant: Tenant, client: Client, _parameters: Parameters) -> Parameters | None:
        if client.requires_pushed_request:
            raise InvalidRequest("the client has to push its requests: request_uri is missing")
        return None


class RequestsByValue:
    """`request` is the request object itself: RFC 9101 §5.1."""

    def __init__(self, objects: RequestObjects) -> None:
        self._objects = objects

    async def resolve(self, tenant: Tenant, client: Client, parameters: Parameters) -> Parameters | None:
        if not parameters.all("request"):
            return None
        return await self._objects.read(tenant, client, parameters.one("request"))


class RequestsByReference:
    """`request_uri` is the address of the request object: RFC 9101 §5.2, OpenID Connect Core 1.0 §6.2."""

    def __init__(self, objects: RequestObjects, documents: Documents) -> None:
        self._objects = objects
        self._documents = documents
        self._reading = asyncio.Semaphore(_MOST_READ_AT_ONCE)

    async def resolve(self, tenant: Tenant, client: Client, parameters: Parameters) -> Parameters | None:
        if not parameters.all("request_uri"):
            return None
        if not client.request_uris:
            raise RequestUriNotSupported("the client has no address of request objects registered")
        request_uri = parameters.one("request_uri")
        if request_uri not in client.request_uris:
            raise InvalidRequestUri("request_uri is not registered for this client")
        request_object = await self._document(request_uri)
        try:
            return await self._objects.read(tenant, client, request_object)
        except RequestNotSupported as error:
            raise RequestUriNotSupported(error.detail) from error

    async def _document(self, request_uri: str) -> str:
        # Any caller can trigger a fetch, so concurrent fetches are bounded; further callers get an error at once.
        if self._reading.locked():
            raise Unavailable.untouched("too many request objects are being read")
        async with self._reading:
            try:
                # The fragment only distinguishes versions and is not sent.
                document = await self._documents.read(request_uri.partition("#")[0], accept=_MEDIA_TYPES)
            except UnreadableDocument as error:
                raise InvalidRequestUri("there is no request object at request_uri") from error
        return document.strip()


class PlainRequests:
    """Parameters of the request itself, which a client that must sign its requests cannot use."""

    async def resolve(self, _tenant: Tenant, client: Client, parameters: Parameters) -> Parameters | None:
        if client.requires_signed_request:
            raise InvalidRequest("the client has to sign its requests: request is missing")
        return parameters
