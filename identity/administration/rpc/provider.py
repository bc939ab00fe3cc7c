"""ProviderService."""

from collections.abc import Iterable
from typing import TypeVar

from google.protobuf.message import Message

from gnomon.identity.v1 import provider_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import fields_of, message_of
from identity.administration.provider_presets import PRESETS, PresetValues, ProviderPreset, fields_from_preset
from identity.administration.providers import ProviderAdministration
from identity.administration.rpc.saml import described, saml_fields, saml_message
from identity.authentication.federation.lookup import ProviderLookup
from identity.authentication.rpc.browser import offered_provider
from identity.authentication.saml.metadata import SamlMetadata
from identity.directory.provider import (
    ClaimMapping,
    Provider,
    ProviderFields,
    SignedSecret,
    UserinfoProfile,
)
from identity.directory.providers import Providers
from identity.foundation.tenants import Tenants
from server.platform.call import Call
from server.platform.errors import NotFound

_NAMES = {
    "forward_sign_in_hints": "forwards_sign_in_hints",
    "auto_onboarding": "onboards",
    "auto_link": "links",
    "mfa_claim_path": "mfa_claim",
    "mfa_claim_value": "mfa_value",
    "form_post": "posts_response",
    "text_booleans": "has_text_booleans",
}
_SPECIAL = ("scope", "mappings", "saml", "profile", "signed_secret")


_OF_PRESET = ("tenant_id", "caller", "preset", "client_secret")

R = TypeVar("R")


class ProviderServicer:
    """`offered` is None where sign-in through upstream providers is disabled."""

    def __init__(
        self,
        admission: Admission,
        administration: ProviderAdministration,
        *,
        lookup: ProviderLookup,
        saml_metadata: SamlMetadata,
        tenants: Tenants,
        offered: Providers | None,
    ) -> None:
        self._admission = admission
        self._administration = administration
        self._lookup = lookup
        self._saml_metadata = saml_metadata
        self._tenants = tenants
        self._offered = offered

    async def list_providers(self, request: pb.ListProvidersRequest, _call: Call) -> pb.ListProvidersResponse:
        tenant, _ = await self._admission.of(request)
        return pb.ListProvidersResponse(providers=map(_message, await self._administration.all(tenant)))

    async def create_provider(
        self, request: pb.CreateProviderRequest, _call: Call
    ) -> pb.CreateProviderResponse:
        tenant, actor = await self._admission.of(request)
        fields = await self._described(request.fields)
        created = await self._administration.create(tenant, fields, request.client_secret, actor=actor)
        return pb.CreateProviderResponse(provider=_message(created))

    async def list_provider_presets(
        self, request: pb.ListProviderPresetsRequest, _call: Call
    ) -> pb.ListProviderPresetsResponse:
        await self._admission.of(request)
        return pb.ListProviderPresetsResponse(presets=map(_preset_message, PRESETS.values()))

    async def create_provider_from_preset(
        self, request: pb.CreateProviderFromPresetRequest, _call: Call
    ) -> pb.CreateProviderFromPresetResponse:
        tenant, actor = await self._admission.of(request)
        values = fields_of(request, PresetValues, _NAMES, without=_OF_PRESET)
        fields = fields_from_preset(request.preset, PresetValues(**values))
        created = await self._administration.create(tenant, fields, request.client_secret, actor=actor)
        return pb.CreateProviderFromPresetResponse(provider=_message(created))

    async def update_provider(
        self, request: pb.UpdateProviderRequest, _call: Call
    ) -> pb.UpdateProviderResponse:
        tenant, actor = await self._admission.of(request)
        changed = await self._administration.change(
            tenant,
            request.provider_id,
            await self._described(request.fields),
            client_secret=request.client_secret,
            actor=actor,
        )
        return pb.UpdateProviderResponse(provider=_message(changed))

    async def delete_provider(
        self, request: pb.DeleteProviderRequest, _call: Call
    ) -> pb.DeleteProviderResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.delete(tenant, request.provider_id, actor=actor)
        return pb.DeleteProviderResponse()

    async def list_linked_users(
        self, request: pb.ListLinkedUsersRequest, _call: Call
    ) -> pb.ListLinkedUsersResponse:
        tenant, _ = await self._admission.of(request)
        linked = await self._administration.linked(tenant, request.provider_id)
        return pb.ListLinkedUsersResponse(
            users=[pb.LinkedUser(id=user.id, email=user.email) for user in linked]
        )

    async def look_up_provider(
        self, request: pb.LookUpProviderRequest, _call: Call
    ) -> pb.LookUpProviderResponse:
        # The call makes the provider send a request to another server.
        await self._admission.of(request)
        found = await self._lookup.look_up(issuer=request.issuer, metadata_url=request.metadata_url)
        return pb.LookUpProviderResponse(
            issuer=found.issuer,
            authorization_endpoint=found.authorization_endpoint,
            token_endpoint=found.token_endpoint,
            userinfo_endpoint=found.userinfo_endpoint,
            jwks_endpoint=found.jwks_uri,
            token_endpoint_auth_methods=found.methods,
            scope=" ".join(found.scopes),
        )

    async def list_offered_providers(
        self, request: pb.ListOfferedProvidersRequest, _call: Call
    ) -> pb.ListOfferedProvidersResponse:
        if self._offered is None:
            raise NotFound("sign-in through upstream providers is disabled")
        offered = await self._offered.offered(self._tenants.find(request.tenant_id))
        return pb.ListOfferedProvidersResponse(providers=map(offered_provider, offered))

    async def _described(self, message: pb.ProviderFields) -> ProviderFields:
        return await described(_fields(message), message.saml, self._saml_metadata)


def _fields(message: pb.ProviderFields) -> ProviderFields:
    """Raises InvalidArgument for a type or a method that does not exist."""
    return ProviderFields(
        **fields_of(message, ProviderFields, _NAMES, without=_SPECIAL),
        oauth_scopes=_distinct(message.scope.split()),
        mappings=tuple(map(_mapping, message.mappings)),
        saml=saml_fields(message.saml) if message.HasField("saml") else None,
        profile=_nested(message.profile, UserinfoProfile) if message.HasField("profile") else None,
        signed_secret=_nested(message.signed_secret, SignedSecret)
        if message.HasField("signed_secret")
        else None,
    )


def _nested(message: Message, kind: type[R]) -> R:
    return kind(**fields_of(message, kind))


def _mapping(message: pb.ProviderClaimMapping) -> ClaimMapping:
    return ClaimMapping(
        claim=message.claim,
        value=message.value,
        roles=_distinct(message.roles),
        groups=_distinct(message.groups),
    )


def _preset_message(preset: ProviderPreset) -> pb.ProviderPreset:
    return message_of(pb.ProviderPreset, preset, scope=" ".join(preset.fields.oauth_scopes))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _message(provider: Provider) -> pb.Provider:
    fields = provider.fields
    shown = message_of(
        pb.ProviderFields,
        fields,
        _NAMES,
        scope=" ".join(fields.oauth_scopes),
        mappings=[message_of(pb.ProviderClaimMapping, mapping) for mapping in fields.mappings],
        saml=None if fields.saml is None else saml_message(fields.saml),
        profile=None if fields.profile is None else message_of(pb.UserinfoProfile, fields.profile),
        signed_secret=None
        if fields.signed_secret is None
        else message_of(pb.SignedSecret, fields.signed_secret),
    )
    return pb.Provider(id=provider.id, fields=shown)
