"""/providers: administration of upstream providers. No response contains a client secret."""

from collections.abc import Iterator, Mapping

from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, members, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.tenant import tenant_of
from edge.oidc.administration.provider_body import (
    METADATA,
    Lookup,
    ProviderBody,
    metadata_members,
    provider_members,
)
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, done
from edge.oidc.openapi.schemas import STRING, answer_of, array, part, titled
from edge.oidc.stubs import Stubs
from edge.problem import Handler
from gnomon.identity.v1 import provider_service_pb2 as pb

_NOT_ACCEPTED = 406
# The metadata of a SAML provider has at most 262,144 octets, and JSON writes some of them as two.
_MAX_BYTES = 524_288


def about_providers(
    stubs: Stubs, config: OidcConfig, *, browsers: Browsers
) -> Iterator[tuple[str, Mapping[str, Handler]]]:
    """Yield paths and handlers by method; paths with a fixed segment come before those with an id in its place."""
    providers = ProvidersEndpoint(stubs, AdministrationCalls(config, browsers))

    yield "/providers", {"POST": providers.list}
    yield "/providers/create", {"POST": providers.create}
    yield "/providers/lookup", {"POST": providers.look_up}
    yield "/providers/minimal", {"GET": providers.list_offered}
    yield "/providers/{id}", {"PUT": providers.update}
    yield "/providers/{id}/delete_safe", {"GET": providers.delete_safe}


_PROVIDER = titled("Provider", answer_of(ProviderBody, id=STRING))


class ProvidersEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._providers = stubs.providers
        self._calls = calls

    @described("Lists the upstream providers of a tenant.", content(array(_PROVIDER)))
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListProvidersRequest(tenant_id=tenant_of(request), caller=self._calls.caller(request))
        found = await self._providers.ListProviders(asked, timeout=self._calls.timeout)
        return written(list(map(provider_members, found.providers)))

    @described("Creates an upstream provider.", content(_PROVIDER), body=ProviderBody, refusals=(409,))
    async def create(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, ProviderBody, max_bytes=_MAX_BYTES)
        asked = pb.CreateProviderRequest(
            tenant_id=tenant_of(request),
            caller=caller,
            fields=sent.fields(),
            client_secret=sent.client_secret or "",
        )
        created = await self._providers.CreateProvider(asked, timeout=self._calls.timeout)
        return written(provider_members(created.provider))

    @described("Replaces an upstream provider.", content(_PROVIDER), body=ProviderBody, refusals=(409,))
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, provider_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, ProviderBody, max_bytes=_MAX_BYTES)
        asked = pb.UpdateProviderRequest(
            tenant_id=tenant_id,
            caller=caller,
            provider_id=provider_id,
            fields=sent.fields(),
            client_secret=sent.client_secret or "",
        )
        updated = await self._providers.UpdateProvider(asked, timeout=self._calls.timeout)
        return written(provider_members(updated.provider))

    @described(
        "Says whether users sign in through the provider alone.",
        done(text="No user does."),
        content(part(pb.ListLinkedUsersResponse, "users"), status=406),
    )
    async def delete_safe(self, request: web.Request) -> web.Response:
        """List the users who sign in through the provider; nothing is deleted."""
        tenant_id, provider_id = tenant_and_id(request)
        asked = pb.ListLinkedUsersRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), provider_id=provider_id
        )
        found = await self._providers.ListLinkedUsers(asked, timeout=self._calls.timeout)
        if not found.users:
            return web.Response()
        return written(list(map(members, found.users)), status=_NOT_ACCEPTED)

    @described("Reads the metadata of an upstream provider.", content(METADATA), body=Lookup)
    async def look_up(self, request: web.Request) -> web.Response:
        caller = self._calls.caller(request)
        sent = await read_json(request, Lookup, max_bytes=self._calls.max_bytes)
        asked = pb.LookUpProviderRequest(
            tenant_id=tenant_of(request),
            caller=caller,
            issuer=sent.issuer or "",
            metadata_url=sent.metadata_url or "",
        )
        found = await self._providers.LookUpProvider(asked, timeout=self._calls.timeout)
        return written(metadata_members(found))

    @described(
        "Lists the upstream providers that the sign-in offers.",
        content(part(pb.ListOfferedProvidersResponse, "providers")),
        caller=Caller.ANYBODY,
    )
    async def list_offered(self, request: web.Request) -> web.Response:
        asked = pb.ListOfferedProvidersRequest(tenant_id=tenant_of(request))
        found = await self._providers.ListOfferedProviders(asked, timeout=self._calls.timeout)
        return written(list(map(members, found.providers)))
