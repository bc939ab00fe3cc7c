"""/scim/v2: provisioning of users and groups by SCIM 2.0 (RFC 7643, RFC 7644).

The service decides; documents pass through as the client sent them. Clients that know bearer tokens alone send an API
key as one: a key has a dollar sign, which no access token has.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import AdministrationCalls, named
from edge.oidc.access.body import JSON, read_body
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.fetch_metadata import from_anywhere
from edge.oidc.access.refusal import Refused
from edge.oidc.access.request_policy import Coverage, RequestPolicy
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import UNCHANGED, Answer, described, done, may
from edge.oidc.openapi.schemas import INTEGER, OBJECT, choice
from edge.oidc.people.provisioning_refusals import MEDIA_TYPE, refused_by_provisioning, scim_refusal
from edge.oidc.stubs import Stubs
from edge.problem import Handler
from gnomon.identity.v1 import browser_pb2, caller_pb2
from gnomon.identity.v1 import provisioning_service_pb2 as pb
from server.platform.json_members import expect_unique_members

PROVISIONING = RequestPolicy(
    refused=refused_by_provisioning,
    admit=from_anywhere,
    coverage=Coverage.CLIENTS,
    has_pages=False,
    refusal_type=MEDIA_TYPE,
)
MOST_BYTES = 1_048_576

_MOST_CREDENTIAL = {"api-key": 512, "bearer": 4096}
_MOST_NUMBER = 2**31 - 1
_MOST_VERSIONS = 16
_NO_VERSION = "-"
_MOST_NAMES = 64


class _Document(msgspec.Struct, rename="camel"):
    """A resource of one of the schemas; further members are those of the schema."""

    schemas: tuple[str, ...]


class _Patch(msgspec.Struct):
    schemas: tuple[str, ...]
    Operations: tuple[dict[str, object], ...]


class _Search(msgspec.Struct, rename="camel"):
    schemas: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    excluded_attributes: tuple[str, ...] = ()
    filter: str = ""
    sort_by: str = ""
    sort_order: str = "ascending"
    start_index: int = 1
    count: int | None = None


_RESOURCE = Answer(
    status=200,
    text="The resource.",
    media_type=MEDIA_TYPE,
    schema=OBJECT,
    headers={"ETag": "Version of the resource.", "Location": "Address of the resource."},
)
_CREATED = Answer(
    status=201, text="The new resource.", media_type=MEDIA_TYPE, schema=OBJECT, headers=_RESOURCE.headers
)
_LIST = Answer(status=200, text="A page of resources.", media_type=MEDIA_TYPE, schema=OBJECT)
_PROJECTION = (
    may("attributes", "Attributes of the answer, with commas between them."),
    may("excludedAttributes", "Attributes that the answer leaves out."),
)
_PAGE = (
    may("filter", "Filter of RFC 7644 §3.4.2.2."),
    may("sortBy", "Attribute to sort by."),
    may("sortOrder", "The order.", choice("ascending", "descending")),
    may("startIndex", "Number of the first resource, from 1.", INTEGER),
    may("count", "Most resources of the page.", INTEGER),
)
_VERSIONS = (may("If-Match", "Versions of the resource, one of which it must have."),)


class ResourcesEndpoint:
    """The users or the groups."""

    def __init__(
        self, stubs: Stubs, calls: AdministrationCalls, browsers: Browsers, kind: pb.ResourceType.ValueType
    ) -> None:
        self._stub = stubs.provisioning
        self._calls = calls
        self._browsers = browsers
        self._kind = kind

    @described("Searches resources.", _LIST, query=(*_PAGE, *_PROJECTION))
    async def list(self, request: web.Request) -> web.Response:
        search = _Search(
            filter=request.query.get("filter", ""),
            attributes=_names(request, "attributes"),
            excluded_attributes=_names(request, "excludedAttributes"),
            sort_by=request.query.get("sortBy", ""),
            sort_order=request.query.get("sortOrder", "ascending"),
            start_index=_number(request, "startIndex", 1) or 1,
            count=_number(request, "count", None),
        )
        return await self._found(request, search)

    @described("Searches resources.", _LIST, body=_Search)
    async def search(self, request: web.Request) -> web.Response:
        body = await _body(request)
        try:
            search = msgspec.json.decode(body, type=_Search)
            expect_unique_members(body)
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            raise _bad("expected a SearchRequest", "invalidSyntax") from error
        return await self._found(request, search)

    @described("Creates a resource.", _CREATED, body=_Document, query=_PROJECTION, refusals=(409,))
    async def create(self, request: web.Request) -> web.Response:
        asked = pb.CreateScimResourceRequest(
            tenant_id=tenant_of(request),
            caller=_caller(request, self._browsers),
            resource_type=self._kind,
            document=await _body(request),
            projection=_projection(request),
        )
        made = await self._stub.CreateScimResource(asked, timeout=self._calls.long_timeout)
        return _resource(made.document, made.version, made.location, status=201)

    @described(
        "A resource.",
        _RESOURCE,
        UNCHANGED,
        query=_PROJECTION,
        headers=(may("If-None-Match", "Versions that the caller has."),),
    )
    async def get(self, request: web.Request) -> web.Response:
        asked = pb.GetScimResourceRequest(
            tenant_id=tenant_of(request),
            caller=_caller(request, self._browsers),
            resource_type=self._kind,
            resource_id=_id(request),
            projection=_projection(request),
        )
        found = await self._stub.GetScimResource(asked, timeout=self._calls.timeout)
        if found.version and found.version in _versions(request, hdrs.IF_NONE_MATCH):
            return web.Response(status=304, headers={hdrs.ETAG: found.version})
        return _resource(found.document, found.version, found.location)

    @described(
        "Replaces a resource.",
        _RESOURCE,
        body=_Document,
        query=_PROJECTION,
        headers=_VERSIONS,
        refusals=(409, 412),
    )
    async def replace(self, request: web.Request) -> web.Response:
        asked = pb.ReplaceScimResourceRequest(
            tenant_id=tenant_of(request),
            caller=_caller(request, self._browsers),
            resource_type=self._kind,
            resource_id=_id(request),
            document=await _body(request),
            versions=_versions(request, hdrs.IF_MATCH),
            projection=_projection(request),
        )
        kept = await self._stub.ReplaceScimResource(asked, timeout=self._calls.long_timeout)
        return _resource(kept.document, kept.version, kept.location)

    @described(
        "Changes attributes of a resource; a group is not answered with unless attributes are asked for.",
        _RESOURCE,
        done(204),
        body=_Patch,
        query=_PROJECTION,
        headers=_VERSIONS,
        refusals=(409, 412),
    )
    async def patch(self, request: web.Request) -> web.Response:
        # The members of a large group are not read for an answer that nobody asked for.
        is_silent = self._kind == pb.RESOURCE_TYPE_GROUP and "attributes" not in request.query
        projection = pb.Projection(excluded_attributes=["members"]) if is_silent else _projection(request)
        asked = pb.PatchScimResourceRequest(
            tenant_id=tenant_of(request),
            caller=_caller(request, self._browsers),
            resource_type=self._kind,
            resource_id=_id(request),
            document=await _body(request),
            versions=_versions(request, hdrs.IF_MATCH),
            projection=projection,
        )
        kept = await self._stub.PatchScimResource(asked, timeout=self._calls.long_timeout)
        if is_silent:
            return web.Response(status=204)
        return _resource(kept.document, kept.version, kept.location)

    @described("Deletes a resource.", done(204), headers=_VERSIONS, refusals=(412,))
    async def delete(self, request: web.Request) -> web.Response:
        asked = pb.DeleteScimResourceRequest(
            tenant_id=tenant_of(request),
            caller=_caller(request, self._browsers),
            resource_type=self._kind,
            resource_id=_id(request),
            versions=_versions(request, hdrs.IF_MATCH),
        )
        await self._stub.DeleteScimResource(asked, timeout=self._calls.long_timeout)
        return web.Response(status=204)

    async def _found(self, request: web.Request, search: _Search) -> web.Response:
        if search.sort_order.lower() not in {"ascending", "descending"}:
            raise _bad("sortOrder: expected ascending or descending", "invalidValue")
        if not (search.filter + search.sort_by).isprintable():
            raise _bad("expected printable characters", "invalidFilter")
        asked = pb.SearchScimResourcesRequest(
            tenant_id=tenant_of(request),
            caller=_caller(request, self._browsers),
            resource_type=self._kind,
            filter=search.filter,
            sort_by=search.sort_by,
            is_descending=search.sort_order.lower() == "descending",
            start_index=_within(search.start_index),
            count=None if search.count is None else _within(search.count),
            projection=pb.Projection(
                attributes=_bounded(search.attributes),
                excluded_attributes=_bounded(search.excluded_attributes),
            ),
        )
        found = await self._stub.SearchScimResources(asked, timeout=self._calls.timeout)
        return web.Response(body=found.document, content_type=MEDIA_TYPE)


class ProvisioningEndpoint:
    """The documents that describe the server, and requests of several operations."""

    def __init__(self, stubs: Stubs, calls: AdministrationCalls, browsers: Browsers) -> None:
        self._stub = stubs.provisioning
        self._calls = calls
        self._browsers = browsers

    @described("Features of the server.", _RESOURCE)
    async def configuration(self, request: web.Request) -> web.Response:
        return await self._document(request, "ServiceProviderConfig")

    @described("Lists the types of resources.", _LIST)
    async def resource_types(self, request: web.Request) -> web.Response:
        return await self._document(request, "ResourceTypes")

    @described("A type of resources.", _RESOURCE)
    async def resource_type(self, request: web.Request) -> web.Response:
        return await self._document(request, f"ResourceTypes/{_id(request)}")

    @described("Lists the schemas.", _LIST)
    async def schemas(self, request: web.Request) -> web.Response:
        return await self._document(request, "Schemas")

    @described("A schema.", _RESOURCE)
    async def schema(self, request: web.Request) -> web.Response:
        return await self._document(request, f"Schemas/{_id(request)}")

    @described("Carries out several operations.", _LIST, body=_Patch, refusals=(413,))
    async def bulk(self, request: web.Request) -> web.Response:
        asked = pb.RunScimOperationsRequest(
            tenant_id=tenant_of(request),
            caller=_caller(request, self._browsers),
            document=await _body(request),
        )
        done_ = await self._stub.RunScimOperations(asked, timeout=self._calls.long_timeout)
        return web.Response(body=done_.document, content_type=MEDIA_TYPE)

    async def _document(self, request: web.Request, name: str) -> web.Response:
        if "filter" in request.query:
            # RFC 7644 §4.
            raise scim_refusal(403, "Forbidden", "these documents take no filter")
        asked = pb.DescribeProvisioningRequest(
            tenant_id=tenant_of(request), caller=_caller(request, self._browsers), name=name
        )
        found = await self._stub.DescribeProvisioning(asked, timeout=self._calls.timeout)
        return web.Response(body=found.document, content_type=MEDIA_TYPE)


def about_provisioning(
    stubs: Stubs, config: OidcConfig, *, browsers: Browsers
) -> Iterator[tuple[str, Mapping[str, Handler]]]:
    """Yield paths below an issuer, and handlers by method."""
    calls = AdministrationCalls(config, browsers)
    server = ProvisioningEndpoint(stubs, calls, browsers)
    yield "/scim/v2/ServiceProviderConfig", {"GET": server.configuration}
    yield "/scim/v2/ResourceTypes", {"GET": server.resource_types}
    yield "/scim/v2/ResourceTypes/{id}", {"GET": server.resource_type}
    yield "/scim/v2/Schemas", {"GET": server.schemas}
    yield "/scim/v2/Schemas/{id}", {"GET": server.schema}
    yield "/scim/v2/Bulk", {"POST": server.bulk}
    for path, kind in (("Users", pb.RESOURCE_TYPE_USER), ("Groups", pb.RESOURCE_TYPE_GROUP)):
        resources = ResourcesEndpoint(stubs, calls, browsers, kind)
        yield f"/scim/v2/{path}", {"GET": resources.list, "POST": resources.create}
        yield f"/scim/v2/{path}/.search", {"POST": resources.search}
        yield (
            f"/scim/v2/{path}/{{id}}",
            {
                "GET": resources.get,
                "PUT": resources.replace,
                "PATCH": resources.patch,
                "DELETE": resources.delete,
            },
        )


def _caller(request: web.Request, browsers: Browsers) -> caller_pb2.Caller:
    """Raises Refused without a credential: cookies are none here."""
    authorizations = request.headers.getall(hdrs.AUTHORIZATION, ())
    scheme, _, credential = authorizations[0].partition(" ") if len(authorizations) == 1 else ("", "", "")
    credential, kind = credential.strip(), scheme.lower()
    if not credential.isascii() or not 0 < len(credential) <= _MOST_CREDENTIAL.get(kind, 0):
        raise scim_refusal(401, "Unauthorized", "expected an API key or an access token as bearer token")
    peer = browser_pb2.Browser(peer_address=browsers.peer_address(request))
    if kind == "api-key" or "$" in credential:
        if len(credential) > _MOST_CREDENTIAL["api-key"]:
            raise scim_refusal(401, "Unauthorized", "the API key is unknown or expired")
        return caller_pb2.Caller(api_key=credential, browser=peer)
    return caller_pb2.Caller(access_token=credential, browser=peer)


def _id(request: web.Request) -> str:
    try:
        return named(request, "id")
    except Refused as error:
        raise scim_refusal(404, "NotFound", "there is no such resource") from error


async def _body(request: web.Request) -> bytes:
    if request.content_type not in {MEDIA_TYPE, JSON}:
        raise _bad(f"the body must be {MEDIA_TYPE}", "invalidSyntax")
    try:
        return await read_body(request, MOST_BYTES)
    except Refused as error:
        raise scim_refusal(error.status, "PayloadTooLarge", error.message) from error


def _names(request: web.Request, name: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in request.query.get(name, "").split(","))))


def _projection(request: web.Request) -> pb.Projection:
    return pb.Projection(
        attributes=_bounded(_names(request, "attributes")),
        excluded_attributes=_bounded(_names(request, "excludedAttributes")),
    )


def _bounded(names: Sequence[str]) -> Sequence[str]:
    if len(names) > _MOST_NAMES or not all(name.isprintable() for name in names):
        raise _bad(f"attributes: expected at most {_MOST_NAMES} names", "invalidValue")
    return names


def _number(request: web.Request, name: str, otherwise: int | None) -> int | None:
    text = request.query.get(name, "")
    if not text:
        return otherwise
    try:
        return int(text) if len(text) <= len(str(_MOST_NUMBER)) + 1 else _MOST_NUMBER
    except ValueError as error:
        raise _bad(f"{name}: expected a number", "invalidValue") from error


def _within(number: int) -> int:
    return max(min(number, _MOST_NUMBER), -_MOST_NUMBER)


def _versions(request: web.Request, header: str) -> Sequence[str]:
    """Return the entity tags of a header; raises Refused for more than a message holds.

    No version has characters beyond ASCII, so a tag with any becomes one that matches nothing.
    """
    tags = [tag.strip() for value in request.headers.getall(header, ()) for tag in value.split(",")]
    found = [tag if tag.isascii() else _NO_VERSION for tag in tags if tag]
    if len(found) > _MOST_VERSIONS:
        raise _bad(f"{header}: expected at most {_MOST_VERSIONS} versions", "invalidValue")
    return found


def _resource(document: bytes, version: str, location: str, *, status: int = 200) -> web.Response:
    headers = {hdrs.LOCATION: location, **({hdrs.ETAG: version} if version else {})}
    return web.Response(status=status, body=document, content_type=MEDIA_TYPE, headers=headers)


def _bad(detail: str, scim_type: str) -> Refused:
    return scim_refusal(400, "BadRequest", detail, scim_type)
