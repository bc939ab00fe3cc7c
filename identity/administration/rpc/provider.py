"""ProviderService."""

from collections.abc import Sequence

from gnomon.identity.v1 import provider_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of, record_of
from identity.administration.provider_presets import PRESETS, PresetValues, ProviderPreset, fields_from_preset
from identity.administration.providers import ProviderAdministration
from identity.administration.rpc.saml import saml_fields, saml_message
from identity.authentication.federation.lookup import ProviderLookup, UpstreamMetadata
from identity.authentication.rpc.browser import offered_provider
from identity.authentication.saml.metadata import SamlMetadata
from identity.directory.provider import Provider, ProviderFields
from identity.directory.providers import Providers
from identity.foundation.tenants import Tenant
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


class ProviderServicer(Operations):
    """`offered` is None where sign-in through upstream providers is disabled."""

    def __init__(
        self,
        admission: Admission,
        providers: ProviderAdministration,
        *,
        lookup: ProviderLookup,
        saml_metadata: SamlMetadata,
        offered: Providers | None,
    ) -> None:
        self._providers = providers
        self._saml_metadata = saml_metadata
        self._offered_providers = offered
        super().__init__(
            admission,
            {
                pb.ListProvidersRequest: providers.all,
                pb.ListProviderPresetsRequest: _presets,
                pb.CreateProviderRequest: self._create,
                pb.CreateProviderFromPresetRequest: self._create_from_preset,
                pb.UpdateProviderRequest: self._update,
                pb.DeleteProviderRequest: providers.delete,
                pb.ListLinkedUsersRequest: providers.linked,
                pb.LookUpProviderRequest: lookup.look_up,
                pb.ListOfferedProvidersRequest: self._offered,
            },
            names=_NAMES,
            shows={Provider: _message, ProviderPreset: _preset_message, UpstreamMetadata: _found},
        )

    async def _create(self, tenant: Tenant, request: pb.CreateProviderRequest, actor: Actor) -> Provider:
        fields = await self._described(request.fields)
        return await self._providers.create(tenant, fields, request.client_secret, actor=actor)

    async def _create_from_preset(
        self, tenant: Tenant, preset: str, values: PresetValues, *, client_secret: str, actor: Actor
    ) -> Provider:
        fields = fields_from_preset(preset, values)
        return await self._providers.create(tenant, fields, client_secret, actor=actor)

    async def _update(self, tenant: Tenant, request: pb.UpdateProviderRequest, actor: Actor) -> Provider:
        fields, secret = await self._described(request.fields), request.client_secret
        return await self._providers.change(
            tenant, request.provider_id, fields, client_secret=secret, actor=actor
        )

    async def _offered(self, tenant: Tenant) -> Sequence[pb.OfferedProvider]:
        if self._offered_providers is None:
            raise NotFound("sign-in through upstream providers is disabled")
        return list(map(offered_provider, await self._offered_providers.offered(tenant)))

    async def _described(self, message: pb.ProviderFields) -> ProviderFields:
        saml = message.saml
        return await self._saml_metadata.described(
            _fields(message), text=saml.metadata, uri=saml.metadata_url
        )


def _fields(message: pb.ProviderFields) -> ProviderFields:
    return record_of(
        ProviderFields,
        message,
        _NAMES,
        without=("scope",),
        oauth_scopes=tuple(dict.fromkeys(message.scope.split())),
        saml=saml_fields(message.saml) if message.HasField("saml") else None,
    )


def _presets() -> Sequence[ProviderPreset]:
    return tuple(PRESETS.values())


def _preset_message(preset: ProviderPreset) -> pb.ProviderPreset:
    return message_of(pb.ProviderPreset, preset, scope=" ".join(preset.fields.oauth_scopes))


def _found(metadata: UpstreamMetadata) -> pb.LookUpProviderResponse:
    names = {"jwks_endpoint": "jwks_uri", "token_endpoint_auth_methods": "methods"}
    return message_of(pb.LookUpProviderResponse, metadata, names, scope=" ".join(metadata.scopes))


def _message(provider: Provider) -> pb.Provider:
    fields = provider.fields
    shown = message_of(
        pb.ProviderFields,
        fields,
        _NAMES,
        scope=" ".join(fields.oauth_scopes),
        saml=None if fields.saml is None else saml_message(fields.saml),
    )
    return pb.Provider(id=provider.id, fields=shown)
