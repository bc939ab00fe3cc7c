"""SamlSignOnService: the provider as a SAML identity provider."""

from gnomon.identity.v1 import saml_sign_on_service_pb2 as pb
from identity.authentication.saml_applications.identity_provider import IdentityProvider
from identity.foundation.tenants import Tenants
from server.platform.call import Call


class SamlSignOnServicer:
    def __init__(self, tenants: Tenants, provider: IdentityProvider) -> None:
        self._tenants = tenants
        self._provider = provider

    async def get_saml_identity_provider(
        self, request: pb.GetSamlIdentityProviderRequest, _call: Call
    ) -> pb.GetSamlIdentityProviderResponse:
        tenant = self._tenants.find(request.tenant_id)
        return pb.GetSamlIdentityProviderResponse(metadata=await self._provider.metadata(tenant))
