"""Authentication ceremonies: Web Authentication Level 3 §7.2."""

from dataclasses import dataclass, replace

from webauthn.helpers import bytes_to_base64url

from identity.authentication.passkeys.authenticators import Authenticators, presented
from identity.authentication.passkeys.ceremony import Ceremony
from identity.authentication.passkeys.passkey import Credential, CredentialId, Passkey
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.passkeys.relying_party import relying_party_of
from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated
from server.platform.records import Changed

# RFC 8176 §2.
_IN_HARDWARE, _COPIED, _USER_VERIFIED, _SEVERAL = "hwk", "swk", "user", "mfa"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPasskey:
    """`amr` are all methods of the sign-in, with those of the first factor."""

    passkey: Passkey
    amr: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    passkeys: Passkeys
    authenticators: Authenticators
    hasher: SecretHasher
    clock: Clock

    async def options(self, tenant: Tenant, code: str, user_id: UserId, *, needs_user: bool) -> str:
        """Return the request options as JSON; without a user the authenticator offers any of its passkeys.

        A user without a passkey, or an unknown one, gets a decoy credential that no authenticator has.
        """
        allowed = await self._allowed(tenant, user_id) if user_id else []
        return self.authenticators.request_options(
            relying_party_of(tenant), code=code, allowed=allowed, needs_user=needs_user
        )

    async def verify(self, tenant: Tenant, ceremony: Ceremony, *, code: str, answer: str) -> ShownPasskey:
        """Return the passkey of the assertion with its sign count updated; raises Unauthenticated.

        Without another factor, the authenticator must verify the user.
        """
        credential_id, handle = presented(answer)
        passkey = await self.passkeys.find(tenant, credential_id)
        if passkey is None or passkey.user_id != (ceremony.user_id or handle):
            raise Unauthenticated("the passkey does not belong to this account")
        if handle and handle != passkey.user_id:
            raise Unauthenticated("the passkey's user handle names another account")
        asserted = self.authenticators.asserted(
            relying_party_of(tenant), answer, code, passkey=passkey, needs_user=ceremony.needs_user
        )
        used = replace(
            passkey,
            sign_count=asserted.sign_count,
            is_backed_up=asserted.is_backed_up,
            last_used_at=self.clock.now(),
        )
        try:
            kept = await self.passkeys.replace(used)
        except Changed as error:
            raise Unauthenticated("the passkey was used or removed at the same time") from error
        return ShownPasskey(
            passkey=kept, amr=_amr(ceremony.amr, kept, is_user_verified=asserted.is_user_verified)
        )

    async def _allowed(self, tenant: Tenant, user_id: UserId) -> list[Credential]:
        # Transports are left out: they would distinguish a passkey from a decoy.
        kept = [Credential(passkey.credential.id) for passkey in await self.passkeys.of(tenant, user_id)]
        return kept or [self._decoy(tenant, user_id)]

    def _decoy(self, tenant: Tenant, user_id: UserId) -> Credential:
        digest = self.hasher.hash(f"decoy {tenant.tenant_id} {user_id}")
        return Credential(CredentialId(bytes_to_base64url(digest)))


def _amr(before: tuple[str, ...], passkey: Passkey, *, is_user_verified: bool) -> tuple[str, ...]:
    possession = _COPIED if passkey.is_backup_eligible else _IN_HARDWARE
    verification = (_USER_VERIFIED,) if is_user_verified else ()
    # Possession, together with knowledge or biometrics.
    several = (_SEVERAL,) if before or is_user_verified else ()
    return (*before, possession, *verification, *several)
