"""Metadata of identity providers and of service providers: SAML 2.0 Metadata §2.4.3, §2.4.4.

The administrator vouches for the document: it comes from the administrator, or over https from the address that the
administrator gave. Its signature, if any, is therefore not verified.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from identity.authentication.saml.certificates import MOST, certificate_of, text_of_certificate
from identity.authentication.saml.names import HTTP_POST, HTTP_REDIRECT, MD, NAME_ID_FORMATS, PROTOCOL
from identity.crypto.xml.documents import MAX_BYTES, MalformedXml, XmlElement, parse, text_of
from identity.crypto.xml.signatures import DS
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.documents import HttpDocuments, UnreadableDocument
from identity.delivery.http.registered_uris import expect_reachable, expect_safe_uri
from identity.directory.provider import ProviderFields, SamlBinding
from identity.directory.tenants.saml_application import SamlConsumerService
from server.platform.errors import InvalidArgument

MEDIA_TYPE = "application/samlmetadata+xml"

M = TypeVar("M")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SpMetadata:
    """`consumer_services` are those with the POST binding, the default first; texts are empty without a value."""

    entity_id: str
    consumer_services: tuple[SamlConsumerService, ...]
    single_logout_url: str
    name_id_format: str
    certificates: tuple[str, ...]
    encryption_certificate: str
    signs_requests: bool


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

    async def described(self, fields: ProviderFields, *, text: str, uri: str) -> ProviderFields:
        """Take issuer, endpoints, binding and certificates from the metadata, if there is a text or an address of it.

        Raises InvalidArgument for unreadable metadata, and for both kinds of it.
        """
        if text and uri:
            raise InvalidArgument("saml: expected metadata or metadata_url, found both")
        if text:
            return _described(fields, idp_metadata(text))
        return _described(fields, await self.read(uri)) if uri else fields


def idp_metadata(document: str) -> IdpMetadata:
    """Read the metadata of one identity provider; raises InvalidArgument."""
    return _read(document, _idp)


def sp_metadata(document: str) -> SpMetadata:
    """Read the metadata of one service provider; raises InvalidArgument."""
    return _read(document, _sp)


def _read(document: str, read: Callable[[XmlElement], M]) -> M:
    try:
        return read(parse(document.encode()))
    except (MalformedXml, UnicodeEncodeError) as error:
        raise InvalidArgument(
            "metadata: expected XML without document type and comments, within bounds"
        ) from error


def _descriptor(root: XmlElement, tag: str, noun: str) -> XmlElement:
    descriptors = [
        descriptor
        for descriptor in root.findall(tag)
        if PROTOCOL in descriptor.get("protocolSupportEnumeration", "").split()
    ]
    if root.tag != f"{MD}EntityDescriptor" or len(descriptors) != 1:
        raise InvalidArgument(f"metadata: expected the entity of one SAML 2.0 {noun}")
    return descriptors[0]


def _idp(root: XmlElement) -> IdpMetadata:
    descriptor = _descriptor(root, f"{MD}IDPSSODescriptor", "identity provider")
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
        wants_signed_requests=_is_true(descriptor, "WantAuthnRequestsSigned"),
    )


def _sp(root: XmlElement) -> SpMetadata:
    descriptor = _descriptor(root, f"{MD}SPSSODescriptor", "service provider")
    services = [
        service
        for service in descriptor.findall(f"{MD}AssertionConsumerService")
        if service.get("Binding") == HTTP_POST
    ]
    if not services:
        raise InvalidArgument("metadata: expected an assertion consumer service with the POST binding")
    # §2.4.4.1: without a default the first one is it.
    services.sort(key=lambda service: not _is_true(service, "isDefault"))
    logout, logout_binding = _endpoint(descriptor, "SingleLogoutService")
    encryption = _certificates(descriptor, "encryption", default="")
    formats = (text_of(each) for each in descriptor.findall(f"{MD}NameIDFormat"))
    return SpMetadata(
        entity_id=root.get("entityID", ""),
        consumer_services=tuple(map(_consumer_service, services)),
        single_logout_url=logout if logout_binding is SamlBinding.REDIRECT else "",
        name_id_format=next((name for name in formats if name in NAME_ID_FORMATS), ""),
        certificates=_certificates(descriptor),
        encryption_certificate=next(iter(encryption), ""),
        signs_requests=_is_true(descriptor, "AuthnRequestsSigned"),
    )


def _consumer_service(service: XmlElement) -> SamlConsumerService:
    try:
        return SamlConsumerService(url=service.get("Location", ""), index=int(service.get("index", "0")))
    except ValueError as error:
        raise InvalidArgument("metadata: expected a number as index of a service") from error


def _is_true(element: XmlElement, name: str) -> bool:
    return element.get(name, "") in {"true", "1"}


def _endpoint(descriptor: XmlElement, name: str) -> tuple[str, SamlBinding | None]:
    services = descriptor.findall(f"{MD}{name}")
    for uri, binding in _BINDINGS:
        for service in services:
            if service.get("Binding") == uri:
                return service.get("Location", ""), binding
    return "", None


def _certificates(
    descriptor: XmlElement, use: str = "signing", *, default: str = "signing"
) -> tuple[str, ...]:
    """Return the certificates of keys with this use, each once; a key without a use has the default."""
    texts = [
        text_of(certificate)
        for key in descriptor.findall(f"{MD}KeyDescriptor")
        if key.get("use", default) == use
        for certificate in key.findall(f"{DS}KeyInfo/{DS}X509Data/{DS}X509Certificate")
    ]
    return tuple(dict.fromkeys(text_of_certificate(certificate_of(text)) for text in texts))


def _described(fields: ProviderFields, found: IdpMetadata) -> ProviderFields:
    if fields.saml is None or fields.saml.certificates or fields.issuer or fields.authorization_endpoint:
        raise InvalidArgument("saml: expected metadata, or issuer, authorization_endpoint and certificates")
    saml = replace(
        fields.saml,
        certificates=found.certificates,
        binding=found.binding,
        single_logout_endpoint=found.single_logout_endpoint,
        signs_requests=fields.saml.signs_requests or found.wants_signed_requests,
    )
    return replace(fields, issuer=found.entity_id, authorization_endpoint=found.sign_on_endpoint, saml=saml)
