"""Metadata of identity providers: SAML 2.0 Metadata §2.4.3.

The administrator vouches for the document: it comes from the administrator, or over https from the address that the
administrator gave. Its signature, if any, is therefore not verified.
"""

from dataclasses import dataclass

from identity.authentication.saml.certificates import MOST, certificate_of, text_of_certificate
from identity.authentication.saml.names import HTTP_POST, HTTP_REDIRECT, MD, PROTOCOL
from identity.crypto.xml.documents import MAX_BYTES, MalformedXml, XmlElement, parse, text_of
from identity.crypto.xml.signatures import DS
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.documents import HttpDocuments, UnreadableDocument
from identity.delivery.http.registered_uris import expect_reachable, expect_safe_uri
from identity.directory.provider import SamlBinding
from server.platform.errors import InvalidArgument

MEDIA_TYPE = "application/samlmetadata+xml"

_BINDINGS = ((HTTP_REDIRECT, SamlBinding.REDIRECT), (HTTP_POST, SamlBinding.POST))


@dataclass(frozen=True, slots=True, kw_only=True)
class IdpMetadata:
    """`certificates` are base64 of DER; the redirect binding takes precedence if the provider has both."""

    entity_id: str
    sign_on_endpoint: str
    binding: SamlBinding
    single_logout_endpoint: str
    certificates: tuple[str, ...]
    wants_signed_requests: bool


class SamlMetadata:
    def __init__(self, documents: HttpDocuments, destinations: Destinations) -> None:
        self._documents = documents
        self._destinations = destinations

    async def read(self, uri: str) -> IdpMetadata:
        """Fetch and read metadata; raises InvalidArgument."""
        expect_safe_uri("metadata_url", uri)
        expect_reachable("metadata_url", uri, self._destinations)
        try:
            document = await self._documents.read(uri, accept=f"{MEDIA_TYPE}, */*", max_octets=MAX_BYTES)
        except UnreadableDocument as error:
            raise InvalidArgument("metadata_url: there is no readable metadata") from error
        return idp_metadata(document)


def idp_metadata(document: str) -> IdpMetadata:
    """Read the metadata of one identity provider; raises InvalidArgument."""
    try:
        root = parse(document.encode())
        return _read(root)
    except (MalformedXml, UnicodeEncodeError) as error:
        raise InvalidArgument(
            "metadata: expected XML without document type and comments, within bounds"
        ) from error


def _read(root: XmlElement) -> IdpMetadata:
    descriptors = [
        descriptor
        for descriptor in root.findall(f"{MD}IDPSSODescriptor")
        if PROTOCOL in descriptor.get("protocolSupportEnumeration", "").split()
    ]
    if root.tag != f"{MD}EntityDescriptor" or len(descriptors) != 1:
        raise InvalidArgument("metadata: expected the entity of one SAML 2.0 identity provider")
    (descriptor,) = descriptors
    endpoint, binding = _endpoint(descriptor, "SingleSignOnService")
    if binding is None:
        raise InvalidArgument("metadata: expected a single sign-on service with the redirect or POST binding")
    logout, logout_binding = _endpoint(descriptor, "SingleLogoutService")
    certificates = _certificates(descriptor)
    if not 0 < len(certificates) <= MOST:
        raise InvalidArgument(f"metadata: expected 1 to {MOST} signing certificates")
    return IdpMetadata(
        entity_id=root.get("entityID", ""),
        sign_on_endpoint=endpoint,
        binding=binding,
        single_logout_endpoint=logout if logout_binding is SamlBinding.REDIRECT else "",
        certificates=certificates,
        wants_signed_requests=descriptor.get("WantAuthnRequestsSigned", "") in {"true", "1"},
    )


def _endpoint(descriptor: XmlElement, name: str) -> tuple[str, SamlBinding | None]:
    services = descriptor.findall(f"{MD}{name}")
    for uri, binding in _BINDINGS:
        for service in services:
            if service.get("Binding") == uri:
                return service.get("Location", ""), binding
    return "", None


def _certificates(descriptor: XmlElement) -> tuple[str, ...]:
    """Return the certificates of signing keys, each once."""
    texts = [
        text_of(certificate)
        for key in descriptor.findall(f"{MD}KeyDescriptor")
        if key.get("use", "signing") == "signing"
        for certificate in key.findall(f"{DS}KeyInfo/{DS}X509Data/{DS}X509Certificate")
    ]
    return tuple(dict.fromkeys(text_of_certificate(certificate_of(text)) for text in texts))
