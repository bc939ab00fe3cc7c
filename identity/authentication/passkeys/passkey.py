"""A passkey of a user: the public part of a credential."""

from dataclasses import dataclass
from datetime import datetime
from typing import NewType

from identity.directory.user import UserId
from server.platform.records import Kind, Owner, Record

CredentialId = NewType("CredentialId", str)

# Separator of the parts of a unique text; names of passkeys do not contain it.
_APART = "\n"


@dataclass(frozen=True, slots=True)
class Credential:
    """Descriptor of a passkey for browsers: §5.8.3; `transports` are how to reach its authenticator."""

    id: CredentialId
    transports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey(Record):
    """`id` is the credential id in base64url; `rp_id` is the relying party id of the credential.

    `public_key` is a COSE key (RFC 9052 §7). `sign_count` is 0 for authenticators that do not count. A passkey that
    `is_backup_eligible` can be stored on several devices.
    """

    user_id: UserId
    name: str
    rp_id: str
    public_key: bytes
    sign_count: int
    transports: tuple[str, ...] = ()
    aaguid: str = ""
    attestation_format: str = ""
    is_backup_eligible: bool = False
    is_backed_up: bool = False
    is_user_verified: bool = False
    registered_at: datetime
    last_used_at: datetime | None = None
    owned_name: str

    @property
    def credential(self) -> Credential:
        return Credential(CredentialId(self.id), self.transports)


PASSKEYS = Kind(
    Passkey, "passkey", unique=("owned_name",), indexed=("user_id",), owners=(Owner("user", "user_id"),)
)


def owned_name(user_id: UserId, name: str) -> str:
    """Unique key: names of a user's passkeys differ, compared without case."""
    return f"{user_id}{_APART}{name.casefold()}"
