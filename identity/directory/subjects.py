"""Identifiers of users and their sessions, as clients see them: OpenID Connect Core 1.0 §8.

A pairwise subject is the encrypted user id. The key belongs to the tenant and is derived from the root secret, so only
the provider can find the user of a pairwise subject or compare the subjects of two sectors. The encryption is
deterministic and authenticated (RFC 5297): a user always has the same subject in a sector, and a text that the provider
did not make for this sector is refused.
"""

import base64
import binascii
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from identity.directory.client import Client
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant

# Octets of the tag, RFC 5297 §2.6.
_TAG = 16

# Separates ids of sessions from those of users.
_SESSION = b"sid"


class UnknownSubject(Exception):
    """The text is not a subject of the client's sector."""


class Subjects:
    """`derived` returns the secret for a purpose, 32 octets."""

    def __init__(self, derived: Callable[[str], bytes]) -> None:
        self._derived = derived

    def of(self, tenant: Tenant, client: Client, user_id: UserId) -> str:
        """Return the subject of a user of the tenant for the client: the user id unless it is pairwise."""
        return self._sealed(tenant, user_id, _sector(client)) if client.has_pairwise_subjects else user_id

    def session_of(self, tenant: Tenant, client: Client, sid: str) -> str:
        """Return the `sid` of a session for the client, which differs between sectors as well; empty for none."""
        if not (sid and client.has_pairwise_subjects):
            return sid
        return self._sealed(tenant, sid, [*_sector(client), _SESSION])

    def user_of(self, tenant: Tenant, client: Client, subject: str) -> UserId:
        """Return the id of the user with this subject; raises UnknownSubject for one of another sector.

        For a client with public subjects every text counts as an id, even if no user has it.
        """
        if not client.has_pairwise_subjects:
            return UserId(subject)
        try:
            sealed = base64.b64decode(subject + "=" * (-len(subject) % 4), altchars=b"-_", validate=True)
            if len(sealed) <= _TAG:
                raise UnknownSubject
            return UserId(self._cipher(tenant).decrypt(sealed, _sector(client)).decode())
        except (binascii.Error, ValueError, InvalidTag) as error:
            raise UnknownSubject from error

    def _sealed(self, tenant: Tenant, text: str, sector: list[bytes]) -> str:
        return (
            base64.urlsafe_b64encode(self._cipher(tenant).encrypt(text.encode(), sector))
            .rstrip(b"=")
            .decode()
        )

    def _cipher(self, tenant: Tenant) -> AESSIV:
        return AESSIV(self._derived(f"pairwise subjects of {tenant.tenant_id}"))


def _sector(client: Client) -> list[bytes]:
    return [client.sector_identifier.encode()]
