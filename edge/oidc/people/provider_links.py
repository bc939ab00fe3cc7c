"""Begins and removes links of a user's own account to upstream providers."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, named, tenant_and_id
from edge.oidc.access.body import read_json
from edge.oidc.authentication.redirects import accepted
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import OBJECT
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import provider_link_service_pb2 as pb


class _Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider_id: str
    mfa_mod_token_id: str


class _Modified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mfa_mod_token_id: str


class ProviderLinksEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._links = stubs.provider_links
        self._calls = calls

    @described(
        "Leads to an upstream provider, to which the account is then linked.",
        done(202, "The address of the provider is in `Location`."),
        content(OBJECT, status=202),
        body=_Begun,
        refusals=(406, 409),
    )
    async def begin(self, request: web.Request) -> web.Response:
        """Answer a script, which then leaves for the provider."""
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _Begun, max_bytes=self._calls.max_bytes)
        asked = pb.BeginProviderLinkRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            provider_id=sent.provider_id,
            modification_token=sent.mfa_mod_token_id,
        )
        begun = await self._links.BeginProviderLink(asked, timeout=self._calls.timeout)
        return accepted(begun.redirect)

    @described("Removes the link to an upstream provider.", done(), body=_Modified, refusals=(406, 409))
    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _Modified, max_bytes=self._calls.max_bytes)
        asked = pb.DeleteProviderLinkRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            provider_id=named(request, "provider_id"),
            modification_token=sent.mfa_mod_token_id,
        )
        await self._links.DeleteProviderLink(asked, timeout=self._calls.timeout)
        return web.Response()
