"""The name in certificates of a client, as messages have it: one field for each type of name, RFC 8705 §2.1.2."""

from collections.abc import Mapping

from google.protobuf.message import Message

from identity.directory.client import CertificateName, CertificateNameType
from server.platform.errors import InvalidArgument

_FIELDS: Mapping[CertificateNameType, str] = {each: f"tls_client_auth_{each}" for each in CertificateNameType}


def certificate_name_of(message: Message) -> CertificateName | None:
    """Return the name that a message has; raises InvalidArgument for more than one."""
    names = [
        CertificateName(each, value) for each, field in _FIELDS.items() if (value := getattr(message, field))
    ]
    if len(names) > 1:
        raise InvalidArgument(f"{_FIELDS[names[1].type]}: expected one name at most")
    return names[0] if names else None


def fields_of(name: CertificateName | None) -> Mapping[str, str]:
    """Return the field of a message that has the name."""
    return {} if name is None else {_FIELDS[name.type]: name.value}
