"""Composes what recognizes people by their passkeys."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import passkey_service_pb2
from identity.admin.callers import Callers
from identity.authorization.door import Door
from identity.ground import Ground
from identity.passkeys.account import ModificationTokens, PasskeyAccounts
from identity.passkeys.administration import PasskeyAdministration
from identity.passkeys.assertion import Assertion
from identity.passkeys.authenticators import Authenticators
from identity.passkeys.ceremony import CEREMONIES, Ceremonies
from identity.passkeys.passkey import PASSKEYS
from identity.passkeys.passkeys import Passkeys
from identity.passkeys.proof import PasskeyProof
from identity.passkeys.registration import PasskeyRegistration
from identity.passkeys.remembered import RememberedFactors
from identity.passkeys.second_factor import PasskeyFactor
from identity.passkeys.sign_in import PasskeySignIn
from identity.presence import Presence
from identity.reset.ceremony import LinkCeremony
from identity.rpc.admission import Admission
from identity.rpc.passkey import PasskeyAuthentication, PasskeyServicer
from identity.tenancy.confirmation import ConfirmationBySettings
from identity.tenancy.tenant_record import TENANTS

_PASSKEYS = passkey_service_pb2.DESCRIPTOR.services_by_name["PasskeyService"]


class Recognizing:
    """`factor` is the passkey that follows a password, or stands in its place; `proof` shows once more who somebody is."""

    def __init__(self, ground: Ground, presence: Presence) -> None:
        self._ground = ground
        self._presence = presence
        self._authenticators = Authenticators(ground.config.webauthn)
        self.passkeys = Passkeys(ground.store.of(PASSKEYS))
        self._remembered = RememberedFactors(
            hasher=ground.secrets, clock=ground.clock, config=ground.config.webauthn
        )
        self.ceremonies = Ceremonies(
            ground.store.of(CEREMONIES),
            ground.secrets,
            clock=ground.clock,
            randomness=ground.randomness,
            config=ground.config.webauthn,
        )
        self.assertion = Assertion(
            passkeys=self.passkeys,
            authenticators=self._authenticators,
            hasher=ground.secrets,
            clock=ground.clock,
        )
        self.proof = PasskeyProof(ceremonies=self.ceremonies, assertion=self.assertion)
        self.factor = PasskeyFactor(
            users=presence.users,
            passkeys=self.passkeys,
            ceremonies=self.ceremonies,
            remembered=self._remembered,
            hasher=ground.secrets,
            config=ground.config.webauthn,
        )

    def servicers(
        self,
        door: Door,
        callers: Callers,
        *,
        modification_tokens: ModificationTokens,
        link_ceremony: LinkCeremony,
    ) -> Mapping[ServiceDescriptor, object]:
        ground = self._ground
        admission = Admission(ground.tenants, callers)
        servicer = PasskeyServicer(
            ground.tenants,
            admission,
            administration=PasskeyAdministration(
                users=self._presence.users,
                passkeys=self.passkeys,
                accounts=self._accounts(),
                modification_tokens=modification_tokens,
                signing_out=self._presence.signing_out,
                events=ground.events,
            ),
            registration=self.registration(modification_tokens),
            authentication=PasskeyAuthentication(
                admission,
                self._sign_in(door),
                self.proof,
                link_ceremony=link_ceremony,
                config=ground.config.webauthn,
                clock=ground.clock,
            ),
        )
        return {_PASSKEYS: servicer}

    def registration(self, modification_tokens: ModificationTokens) -> PasskeyRegistration:
        return PasskeyRegistration(
            users=self._presence.users,
            passkeys=self.passkeys,
            ceremonies=self.ceremonies,
            authenticators=self._authenticators,
            modification_tokens=modification_tokens,
            accounts=self._accounts(),
            events=self._ground.events,
            clock=self._ground.clock,
        )

    def _accounts(self) -> PasskeyAccounts:
        return PasskeyAccounts(
            users=self._presence.users, passkeys=self.passkeys, config=self._ground.config.webauthn
        )

    def _sign_in(self, door: Door) -> PasskeySignIn:
        return PasskeySignIn(
            sessions=self._presence.sessions,
            users=self._presence.users,
            door=door,
            ceremonies=self.ceremonies,
            assertion=self.assertion,
            remembered=self._remembered,
            protection=self._presence.protection,
            confirmation=ConfirmationBySettings(self._ground.store.of(TENANTS)),
            clock=self._ground.clock,
        )
