"""Users with codes, over any store, with a fixed clock."""

from dataclasses import dataclass

from pyotp import TOTP

from identity.access.callers import Actor, ActorKind
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.protection import LoginProtection
from identity.access.person import Person
from identity.authentication.one_time_codes.accounts import CodeAccounts
from identity.authentication.one_time_codes.administration import CodeAdministration
from identity.authentication.one_time_codes.code_factor_records import CodeFactorRecords
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.one_time_codes.enrolment import GeneratorEnrolment
from identity.authentication.one_time_codes.factors import CodeFactors
from identity.authentication.one_time_codes.recovery import RecoveryCodeGenerator
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.authentication.one_time_codes.typed import CodeKind
from identity.authentication.one_time_codes.verification import CodeVerification
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.crypto.keys.master_keys import MasterKeys
from identity.directory.secrets import SecretHasher
from identity.directory.user import USERS, UserId
from identity.directory.users import Users
from identity.foundation.events.config import EventsConfig
from identity.foundation.events.event import EVENTS
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import TenantId
from server.platform.clock import VirtualClock
from server.platform.records import RecordStore
from tests.identity.browsers import ADDRESS, Pauses, alice

ALICE = UserId("alice")
# Login protection is off for these addresses, so that only the account's own bounds apply.
_UNGUARDED = LoginProtectionConfig(allowed_networks=("192.0.2.0/24", "198.51.100.0/24"))
_RANDOMNESS = SystemRandomness()


@dataclass(frozen=True)
class NoSessions:
    """Sessions that are not stored: the acting user has shown the factor."""

    async def note_factor(self, _tenant: Tenant, _sid: str) -> None: ...


@dataclass(frozen=True)
class AnyProof:
    """Accepts every modification token."""

    async def spend(self, person: Person, token: str) -> None: ...

    async def spend_own(self, tenant: Tenant, user_id: UserId, token: str, *, actor: Actor) -> None: ...


class Process:
    """One of several processes over the same records."""

    def __init__(
        self,
        store: RecordStore,
        clock: VirtualClock,
        masters: MasterKeys,
        *,
        protection: LoginProtectionConfig = _UNGUARDED,
        tenants: Tenants | None = None,
    ) -> None:
        tenants = tenants or Tenants("https://id.example.com", TenantId("default"), ())
        self.tenant: Tenant = tenants.default
        self.store, self.clock, self.masters = store, clock, masters
        self.config, self.pauses = OneTimeCodeConfig(), Pauses()
        hasher = SecretHasher(b"k" * 32)
        self.users = Users(store.of(USERS))
        self.factor_records = CodeFactorRecords(store)
        self.secrets = GeneratorSecrets(store, masters)
        self.recovery = RecoveryCodeGenerator(hasher, _RANDOMNESS)
        events = Events(store, EventsConfig().levels, clock=clock, randomness=_RANDOMNESS)
        self.verification = CodeVerification(
            factor_records=self.factor_records,
            secrets=self.secrets,
            recovery=self.recovery,
            protection=LoginProtection(
                store,
                hasher,
                clock=clock,
                delays=Delays(10, self.pauses),
                config=protection,
                events=events,
            ),
            events=events,
            clock=clock,
            config=self.config,
        )
        accounts = CodeAccounts(users=self.users, factor_records=self.factor_records)
        self.enrolment = GeneratorEnrolment(
            factor_records=self.factor_records,
            secrets=self.secrets,
            accounts=accounts,
            modification_tokens=AnyProof(),
            shown_factors=ShownFactors(self.users, NoSessions()),
            events=events,
            clock=clock,
            randomness=_RANDOMNESS,
            config=self.config,
        )
        self.administration = CodeAdministration(
            factor_records=self.factor_records,
            recovery=self.recovery,
            passkeys=Passkeys(store.of(PASSKEYS)),
            accounts=accounts,
            modification_tokens=AnyProof(),
            events=events,
            clock=clock,
        )

    @property
    def alice(self) -> Person:
        actor = Actor(
            ActorKind.USER,
            ALICE,
            "alice@example.com",
            session="s1",
            peer_address=ADDRESS,
            has_shown_factor=True,
        )
        return Person(tenant=self.tenant, actor=actor)

    async def admit_alice(self) -> None:
        await self.users.add(alice())

    async def add(self, name: str = "phone") -> str:
        """Add a generator to Alice's account, and return its secret; the confirming code was that of a minute ago."""
        begun = await self.enrolment.begin(self.alice, name, modification_token="")
        await self.enrolment.confirm(self.alice, begun.id, code=self.code(begun.secret, -1))
        return begun.secret

    def code(self, secret: str, steps: int = 0) -> str:
        return TOTP(secret).at(self.clock.now(), counter_offset=steps)

    def wrong_code(self, secret: str) -> str:
        right = {self.code(secret, steps) for steps in (-1, 0, 1)}
        return next(code for code in ("000000", "111111", "222222", "333333") if code not in right)

    async def verify(self, code: str, *, address: str = ADDRESS) -> CodeKind:
        return await self.verification.verify(self.tenant, ALICE, code, peer_address=address)

    async def kept(self) -> CodeFactors:
        return await self.factor_records.of(self.tenant, ALICE)

    async def events(self) -> list[EventType]:
        return [event.type for event in await self.store.of(EVENTS).page(self.tenant.tenant_id)]
