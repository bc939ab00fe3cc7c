"""Messages of SAML providers."""

from dataclasses import replace

from gnomon.identity.v1 import provider_service_pb2 as pb
from identity.authentication.saml.certificates import certificate_of, text_of_certificate
from identity.authentication.saml.metadata import IdpMetadata, SamlMetadata, idp_metadata
from identity.directory.provider import ProviderFields, SamlBinding, SamlFields
from server.platform.errors import InvalidArgument


def saml_fields(message: pb.SamlProviderFields) -> SamlFields:
    """Raises InvalidArgument for an unknown binding or an unreadable certificate."""
    return SamlFields(
        certificates=tuple(
            dict.fromkeys(text_of_certificate(certificate_of(text)) for text in message.certificates)
        ),
        binding=_binding(message.binding),
        single_logout_endpoint=message.single_logout_endpoint,
        name_id_format=message.name_id_format,
        signs_requests=message.sign_requests,
        requires_encryption=message.require_encryption,
        clock_skew_secs=message.clock_skew_seconds,
        subject_attribute=message.subject_attribute,
        email_attribute=message.email_attribute,
        given_name_attribute=message.given_name_attribute,
        family_name_attribute=message.family_name_attribute,
        vouches_for_email=message.trust_email,
    )


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
    return pb.SamlProviderFields(
        certificates=saml.certificates,
        binding=saml.binding,
        single_logout_endpoint=saml.single_logout_endpoint,
        name_id_format=saml.name_id_format,
        sign_requests=saml.signs_requests,
        require_encryption=saml.requires_encryption,
        clock_skew_seconds=saml.clock_skew_secs,
        subject_attribute=saml.subject_attribute,
        email_attribute=saml.email_attribute,
        given_name_attribute=saml.given_name_attribute,
        family_name_attribute=saml.family_name_attribute,
        trust_email=saml.vouches_for_email,
    )


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


def _binding(name: str) -> SamlBinding:
    try:
        return SamlBinding(name or SamlBinding.REDIRECT)
    except ValueError as error:
        raise InvalidArgument(f"saml: binding: expected one of {', '.join(SamlBinding)}") from error
