"""Messages of SAML providers."""

from gnomon.identity.v1 import provider_service_pb2 as pb
from identity.access.rpc.records import message_of, record_of
from identity.authentication.saml.certificates import certificate_of, text_of_certificate
from identity.directory.provider import SamlFields

_NAMES = {
    "sign_requests": "signs_requests",
    "send_logout_requests": "sends_logout",
    "require_encryption": "requires_encryption",
    "clock_skew_seconds": "clock_skew_secs",
    "trust_email": "vouches_for_email",
}
_OF_METADATA = ("metadata", "metadata_url")


def saml_fields(message: pb.SamlProviderFields) -> SamlFields:
    """Raises InvalidArgument for an unknown binding or an unreadable certificate."""
    certificates = dict.fromkeys(text_of_certificate(certificate_of(text)) for text in message.certificates)
    return record_of(SamlFields, message, _NAMES, without=_OF_METADATA, certificates=tuple(certificates))


def saml_message(saml: SamlFields) -> pb.SamlProviderFields:
    return message_of(pb.SamlProviderFields, saml, _NAMES, metadata="", metadata_url="")
