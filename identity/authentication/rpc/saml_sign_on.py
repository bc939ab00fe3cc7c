"""SamlSignOnService: the provider as a SAML identity provider."""

from gnomon.identity.v1 import saml_sign_on_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.authentication.saml_applications.identity_provider import IdentityProvider


class SamlSignOnServicer(Operations):
    def __init__(self, admission: TenantAdmission, provider: IdentityProvider) -> None:
        super().__init__(admission, {pb.GetSamlIdentityProviderRequest: provider.metadata})
