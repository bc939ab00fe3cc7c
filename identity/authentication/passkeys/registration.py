"""Registration ceremonies: Web Authentication Level 3 §7.1."""

from dataclasses import dataclass

from identity.access.person import Person
from identity.authentication.factor_names import own_name
from identity.authentication.passkeys.account import ModificationTokens, PasskeyAccounts
from identity.authentication.passkeys.authenticators import Attested, Authenticators, code_answered
from identity.authentication.passkeys.ceremony import Ceremonies, Purpose
from identity.authentication.passkeys.passkey import Passkey, owned_name
from identity.authentication.passkeys.passkeys import MOST_OF_A_USER, Passkeys
from identity.authentication.passkeys.relying_party import relying_party_of
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.directory.user import User
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidState, PermissionDenied
from server.platform.records import AlreadyThere


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyRegistration:
    users: Users
    passkeys: Passkeys
    ceremonies: Ceremonies
    authenticators: Authenticators
    modification_tokens: ModificationTokens
    shown_factors: ShownFactors
    accounts: PasskeyAccounts
    events: Events
    clock: Clock

    async def start(self, person: Person, name: str, *, modification_token: str) -> str:
        """Return the creation options as JSON; raises InvalidArgument, AlreadyExists, InvalidState."""
        await self._expect_room(person, own_name(name, field="passkey_name"))
        await self.modification_tokens.spend(person, modification_token)
        return await self.begin(person, name, needs_user=False)

    async def begin(self, person: Person, name: str, *, needs_user: bool) -> str:
        """Do what `start` does, for a user who authenticated in another way."""
        tenant, name = person.tenant, own_name(name, field="passkey_name")
        user = await self._expect_room(person, name)
        kept = await self.passkeys.of(tenant, person.user_id)
        code = await self.ceremonies.begin(
            tenant, person.actor.session, Purpose.REGISTRATION, person.user_id, passkey_name=name
        )
        return self.authenticators.creation_options(
            relying_party_of(tenant),
            user,
            code=code,
            kept=[passkey.credential for passkey in kept],
            needs_user=needs_user,
        )

    async def finish(self, person: Person, name: str, *, answer: str) -> Passkey:
        """Store the new passkey; raises Unauthenticated, PermissionDenied, InvalidArgument, AlreadyExists."""
        # The user may have added another factor elsewhere in the meantime.
        await self.shown_factors.expect(person)
        passkey = await self.keep(person, await self.attested(person, name, answer=answer, needs_user=False))
        await self.shown_factors.note(person)
        return passkey

    async def attested(self, person: Person, name: str, *, answer: str, needs_user: bool) -> Passkey:
        """Return the new passkey without storing it; raises Unauthenticated, PermissionDenied, InvalidArgument."""
        tenant, code = person.tenant, code_answered(answer)
        ceremony = await self.ceremonies.take(tenant, code, person.actor.session, Purpose.REGISTRATION)
        name = own_name(name, field="passkey_name")
        if ceremony.user_id != person.user_id or ceremony.passkey_name != name:
            raise PermissionDenied("the ceremony was begun for another passkey")
        attested = self.authenticators.attested(relying_party_of(tenant), answer, code, needs_user=needs_user)
        return self._passkey(person, ceremony.passkey_name, attested)

    async def keep(self, person: Person, attested: Passkey) -> Passkey:
        """Add a passkey to the account; raises AlreadyExists."""
        try:
            passkey = await self.passkeys.add(attested)
        except AlreadyThere as error:
            raise AlreadyExists("the passkey exists already") from error
        await self.accounts.added(person.tenant, person.user_id)
        await self.events.emit(
            person.tenant.tenant_id,
            EventType.PASSKEY_ADDED,
            text=passkey.name,
            ip=person.actor.peer_address,
            user_id=person.user_id,
            session=person.actor.session or None,
        )
        return passkey

    async def _expect_room(self, person: Person, name: str) -> User:
        user = await self.users.find(person.tenant, person.user_id)
        if user is None or len(await self.passkeys.of(person.tenant, person.user_id)) >= MOST_OF_A_USER:
            raise InvalidState(f"expected at most {MOST_OF_A_USER} passkeys")
        if await self.passkeys.find_named(person.tenant, person.user_id, name) is not None:
            raise AlreadyExists("there is a passkey of this name")
        return user

    def _passkey(self, person: Person, name: str, attested: Attested) -> Passkey:
        return Passkey(
            tenant_id=person.tenant.tenant_id,
            id=attested.credential_id,
            user_id=person.user_id,
            name=name,
            rp_id=relying_party_of(person.tenant).rp_id,
            public_key=attested.public_key,
            sign_count=attested.sign_count,
            transports=attested.transports,
            aaguid=attested.aaguid,
            attestation_format=attested.attestation_format,
            is_backup_eligible=attested.is_backup_eligible,
            is_backed_up=attested.is_backed_up,
            is_user_verified=attested.is_user_verified,
            registered_at=self.clock.now(),
            owned_name=owned_name(person.user_id, name),
        )
