"""Fields of a client whose names or meanings differ between the contract and its record.

All other fields have one name in both, so a new field needs no line here.
"""

from collections.abc import Mapping
from typing import Any

from identity.directory.client import CertificateName, CertificateNameType, Client
from server.platform.errors import InvalidArgument

# By the names of the record.
RecordFields = dict[str, Any]

S256 = "S256"
CERTIFICATE_NAMES: Mapping[str, CertificateNameType] = {
    f"tls_client_auth_{each}": each for each in CertificateNameType
}

RECORD_NAMES = {
    "enabled": "is_enabled",
    "client_name": "name",
    "flows_enabled": "grant_types",
    "auth_code_lifetime": "authorization_code_lifetime",
    "scopes": "oauth_scopes",
    "force_mfa": "requires_mfa",
    "require_signed_request_object": "requires_signed_request",
    "require_pushed_authorization_requests": "requires_pushed_request",
    "dpop_bound_access_tokens": "requires_dpop",
    "tls_client_certificate_bound_access_tokens": "requires_certificate",
    "fed_cm": "has_fed_cm",
}
# Members that together describe how a client authenticates.
OF_AUTHENTICATION = frozenset({"id", "confidential", "token_endpoint_auth_method"})
SPECIAL = frozenset({"challenges", *CERTIFICATE_NAMES})


def special_fields(values: Mapping[str, Any]) -> RecordFields:
    """Return the fields of the record for the members in `SPECIAL`, as far as there are any. Raises InvalidArgument."""
    found: RecordFields = {}
    if "challenges" in values:
        found["requires_pkce"] = S256 in values["challenges"]
    if not CERTIFICATE_NAMES.keys().isdisjoint(values):
        found["certificate_name"] = _certificate_name(values)
    return found


def special_members(client: Client) -> Mapping[str, Any]:
    """Return the members of the contract that no single field of the record has."""
    name = client.certificate_name
    return {
        "confidential": not client.is_public,
        "challenges": (S256,) if client.requires_pkce else (),
        **{
            member: name.value if name is not None and name.type is kind else ""
            for member, kind in CERTIFICATE_NAMES.items()
        },
    }


def _certificate_name(values: Mapping[str, Any]) -> CertificateName | None:
    names = [
        CertificateName(kind, values[member]) for member, kind in CERTIFICATE_NAMES.items() if values[member]
    ]
    if len(names) > 1:
        raise InvalidArgument(f"tls_client_auth_{names[1].type}: expected one name at most")
    return names[0] if names else None
