"""Messages of SAML providers."""

from dataclasses import replace

from gnomon.identity.v1 import provider_service_pb2 as pb
from identity.access.rpc.records import message_of, record_of
from identity.authentication.saml.certificates import certificate_of, text_of_certificate
from identity.authentication.saml.metadata import IdpMetadata, SamlMetadata, idp_metadata
from identity.directory.provider import ProviderFields, SamlFields
from server.platform.errors import InvalidArgument

_NAMES = {
    "sign_requests": "signs_requests",
    "require_encryption": "requires_encryption",
    "clock_skew_seconds": "clock_skew_secs",
    "trust_email": "vouches_for_email",
}
_OF_METADATA = ("metadata", "metadata_url")


def saml_fields(message: pb.SamlProviderFields) -> SamlFields:
    """Raises InvalidArgument for an unknown binding or an unreadable certificate."""
    certificates = dict.fromkeys(text_of_certificate(certificate_of(text)) for text in message.certificates)
    return record_of(SamlFields, message, _NAMES, without=_OF_METADATA, certificates=tuple(certificates))


async def described(
    fields: ProviderFields, message: pb.SamlProviderFields, metadata: SamlMetadata
) -> ProviderFields:
    """Take issuer, endpoints, binding and certificates from the metadata, if there is any.

    Raises InvalidArgument for unreadable metadata, and for both kinds of it.
    """
    if message.metadata and message.metadata_url:
        raise InvalidArgument("saml: expected metadata or metadata_url, found both")
    if message.metadata:
        return _with(fields, idp_metadata(message.metadata))
    if message.metadata_url:
        return _with(fields, await metadata.read(message.metadata_url))
    return fields


def saml_message(saml: SamlFields) -> pb.SamlProviderFields:
    return message_of(pb.SamlProviderFields, saml, _NAMES, metadata="", metadata_url="")


def _with(fields: ProviderFields, found: IdpMetadata) -> ProviderFields:
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
