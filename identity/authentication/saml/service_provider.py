"""Our side at a SAML provider: addresses, metadata, and the signed authentication request.

SAML 2.0 Metadata §2.4.4, Core §3.4.1, Bindings §3.4 and §3.5. A request says nothing about the user.
"""

import base64
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import ResponseMode
from identity.authentication.saml.keys import SamlKeys
from identity.authentication.saml.logout_messages import LIFETIME, LOGOUT_REQUEST, logout_response
from identity.authentication.saml.names import (
    HTTP_POST,
    HTTP_REDIRECT,
    MD,
    PROTOCOL,
    SAML,
    SAMLP,
    child,
    root,
    written,
)
from identity.authentication.saml.redirect_binding import deflated, signed_query
from identity.crypto.xml.documents import XmlElement, serialized
from identity.crypto.xml.signatures import DS, placeholder, signed
from identity.directory.provider import Provider, SamlBinding, SamlFields
from identity.foundation.tenants import Tenant


def callback_of(tenant: Tenant, provider: Provider) -> str:
    """Return the redirect URI of a provider, which is the assertion consumer service of a SAML provider."""
    return f"{tenant.issuer}providers/{provider.id}/callback"


def logout_of(tenant: Tenant, provider: Provider) -> str:
    return f"{tenant.issuer}providers/{provider.id}/logout"


def metadata_uri(tenant: Tenant, provider: Provider) -> str:
    return f"{tenant.issuer}providers/{provider.id}/metadata"


def entity_id_of(tenant: Tenant, provider: Provider) -> str:
    return provider.fields.client_id or metadata_uri(tenant, provider)


def saml_of(provider: Provider) -> SamlFields:
    """Return the settings of a SAML provider."""
    # `administration` keeps no SAML provider without them.
    assert provider.fields.saml is not None  # noqa: S101
    return provider.fields.saml


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationRequest:
    """`id` is the id that the response must name; with `forces_authentication` the provider asks the user again."""

    id: str
    at: datetime
    relay_state: str
    forces_authentication: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutRequest:
    """The user and the session at the provider; `session_index` may be empty."""

    id: str
    at: datetime
    name_id: str
    session_index: str


class ServiceProvider:
    def __init__(self, keys: SamlKeys) -> None:
        self._keys = keys

    def key(self, provider: Provider) -> RSAPrivateKey:
        """Return the key by which the provider encrypts for us; raises LostMasterKey."""
        return self._keys.open(provider)[0]

    def metadata(self, tenant: Tenant, provider: Provider) -> str:
        """Return the metadata document that the provider's administrator registers."""
        saml = saml_of(provider)
        entity = root(f"{MD}EntityDescriptor", {"entityID": entity_id_of(tenant, provider)})
        descriptor = child(
            entity,
            f"{MD}SPSSODescriptor",
            protocolSupportEnumeration=PROTOCOL,
            AuthnRequestsSigned=_written(saml.signs_requests),
            WantAssertionsSigned="true",
        )
        for use in ("signing", "encryption"):
            key = child(descriptor, f"{MD}KeyDescriptor", use=use)
            data = child(child(key, f"{DS}KeyInfo"), f"{DS}X509Data")
            child(data, f"{DS}X509Certificate", provider.saml_certificate)
        for binding in (HTTP_REDIRECT, HTTP_POST) if saml.single_logout_endpoint else ():
            location = logout_of(tenant, provider)
            child(descriptor, f"{MD}SingleLogoutService", Binding=binding, Location=location)
        if saml.name_id_format:
            child(descriptor, f"{MD}NameIDFormat", saml.name_id_format)
        child(
            descriptor,
            f"{MD}AssertionConsumerService",
            Binding=HTTP_POST,
            Location=callback_of(tenant, provider),
            index="0",
            isDefault="true",
        )
        return serialized(entity).decode()

    def request(self, tenant: Tenant, provider: Provider, request: AuthenticationRequest) -> Redirection:
        """Return the redirect, or the form, that takes the request to the provider."""
        saml, endpoint = saml_of(provider), provider.fields.authorization_endpoint
        element = _request(tenant, provider, request)
        if saml.binding is SamlBinding.REDIRECT:
            parameters = [("SAMLRequest", deflated(element)), ("RelayState", request.relay_state)]
            if saml.signs_requests:
                parameters = signed_query(parameters, self._keys.open(provider)[0])
            return Redirection(endpoint, ResponseMode.QUERY, tuple(parameters))
        if saml.signs_requests:
            key, certificate = self._keys.open(provider)
            element.insert(1, placeholder())
            element = signed(element, key, certificate)
        message = base64.b64encode(serialized(element)).decode()
        fields = (("SAMLRequest", message), ("RelayState", request.relay_state))
        return Redirection(endpoint, ResponseMode.FORM_POST, fields)

    def logout_request(self, tenant: Tenant, provider: Provider, request: LogoutRequest) -> str:
        """Return the address with the signed request that ends the session at the provider: Core §3.7.1."""
        saml = saml_of(provider)
        endpoint = saml.single_logout_endpoint
        element = root(
            LOGOUT_REQUEST,
            {
                "ID": request.id,
                "Version": "2.0",
                "IssueInstant": written(request.at),
                "NotOnOrAfter": written(request.at + LIFETIME),
                "Destination": endpoint,
            },
        )
        child(element, f"{SAML}Issuer", entity_id_of(tenant, provider))
        name_id = child(element, f"{SAML}NameID", request.name_id)
        if saml.name_id_format:
            name_id.set("Format", saml.name_id_format)
        if request.session_index:
            child(element, f"{SAMLP}SessionIndex", request.session_index)
        key, _ = self._keys.open(provider)
        parameters = signed_query([("SAMLRequest", deflated(element))], key)
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters, quote_via=quote)}"

    def logout_response(
        self, tenant: Tenant, provider: Provider, request_id: str, *, at: datetime, relay_state: str
    ) -> Redirection:
        """Return the signed answer to a logout request, which takes the browser back: Core §3.7.3."""
        endpoint = saml_of(provider).single_logout_endpoint
        issuer = entity_id_of(tenant, provider)
        element = logout_response(request_id, issuer=issuer, destination=endpoint, at=at)
        state = [("RelayState", relay_state)] if relay_state else []
        key, _ = self._keys.open(provider)
        parameters = signed_query([("SAMLResponse", deflated(element)), *state], key)
        return Redirection(endpoint, ResponseMode.QUERY, tuple(parameters))


def _request(tenant: Tenant, provider: Provider, request: AuthenticationRequest) -> XmlElement:
    attributes = {
        "ID": request.id,
        "Version": "2.0",
        "IssueInstant": written(request.at),
        "Destination": provider.fields.authorization_endpoint,
        "AssertionConsumerServiceURL": callback_of(tenant, provider),
        "ProtocolBinding": HTTP_POST,
    }
    if request.forces_authentication:
        attributes["ForceAuthn"] = "true"
    element = root(f"{SAMLP}AuthnRequest", attributes)
    child(element, f"{SAML}Issuer", entity_id_of(tenant, provider))
    name_id_format = saml_of(provider).name_id_format
    policy = {"Format": name_id_format} if name_id_format else {}
    child(element, f"{SAMLP}NameIDPolicy", AllowCreate="true", **policy)
    return element


def _written(is_true: bool) -> str:  # noqa: FBT001  # a value, no flag
    return "true" if is_true else "false"
