"""The provider as a SAML identity provider: its addresses and its metadata, SAML 2.0 Metadata §2.4.3."""

from identity.authentication.saml.names import (
    HTTP_POST,
    HTTP_REDIRECT,
    MD,
    NAME_ID_FORMATS,
    PROTOCOL,
    child,
    root,
)
from identity.authentication.saml_applications.signing_keys import SamlSigningKeys
from identity.crypto.xml.documents import serialized
from identity.crypto.xml.signatures import DS
from identity.foundation.tenants import Tenant


def entity_id_of(tenant: Tenant) -> str:
    """Return the entity id, which is the address of the metadata."""
    return f"{tenant.issuer}saml/metadata"


def sign_on_of(tenant: Tenant) -> str:
    return f"{tenant.issuer}saml/sso"


def logout_of(tenant: Tenant) -> str:
    return f"{tenant.issuer}saml/slo"


class IdentityProvider:
    def __init__(self, keys: SamlSigningKeys) -> None:
        self._keys = keys

    async def metadata(self, tenant: Tenant) -> str:
        """Return the document that administrators of applications import; raises Unavailable."""
        entity = root(f"{MD}EntityDescriptor", {"entityID": entity_id_of(tenant)})
        descriptor = child(
            entity,
            f"{MD}IDPSSODescriptor",
            protocolSupportEnumeration=PROTOCOL,
            WantAuthnRequestsSigned="false",
        )
        for certificate in await self._keys.certificates(tenant):
            key = child(descriptor, f"{MD}KeyDescriptor", use="signing")
            data = child(child(key, f"{DS}KeyInfo"), f"{DS}X509Data")
            child(data, f"{DS}X509Certificate", certificate)
        child(descriptor, f"{MD}SingleLogoutService", Binding=HTTP_REDIRECT, Location=logout_of(tenant))
        for name_id_format in NAME_ID_FORMATS:
            child(descriptor, f"{MD}NameIDFormat", name_id_format)
        for binding in (HTTP_REDIRECT, HTTP_POST):
            child(descriptor, f"{MD}SingleSignOnService", Binding=binding, Location=sign_on_of(tenant))
        return serialized(entity).decode()
