"""Self-registration as composed in production; it keeps the posted mails."""

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta

from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.login_protection.delays import Delays
from identity.access.login_protection.equal_duration import EqualDuration
from identity.delivery.mail.letter import Letter
from identity.directory.client import Client
from identity.directory.config import UsersConfig
from identity.directory.links.links import Links
from identity.directory.password_rules.breach_list import NoBreachList
from identity.directory.passwords import Passwords
from identity.directory.tenants.providers import Provider as UpstreamProvider
from identity.directory.tenants.settings import TenantSettings
from identity.directory.tenants.settings_of_tenants import SettingsOfTenants
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.user import USERS, User, UserId
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from identity.people.account.password_choice import PasswordChoice
from identity.people.registration.confirmation import Confirmation, RegistrationConfirmation
from identity.people.registration.confirmation_requests import ConfirmationRequests
from identity.people.registration.form import RegistrationForm
from identity.people.registration.form_checks import RegistrationAdmission
from identity.people.registration.limits import REGISTRATION_ATTEMPTS, RegistrationLimits
from identity.people.registration.links import ConfirmationLinks
from identity.people.registration.return_address import ReturnAddresses
from identity.people.registration.self_registration import SelfRegistration
from server.platform.clock import Clock
from server.platform.records import RecordStore
from tests.identity.administration.administration import Administration
from tests.identity.browsers import ADDRESS, NOON, Pauses

EVE = "eve@example.com"
PASSWORD = "correct horse battery staple"
OTHER_PASSWORD = "another one of many words"
OPEN = UsersConfig(registration_enabled=True)

_LINK = re.compile(r"(?P<issuer>\S+/)users/(?P<user_id>\w+)/email_confirm/(?P<code>\w{64})")


@dataclass
class PostOffice:
    """Keeps the posted mails."""

    store: RecordStore
    clock: Clock
    letters: list[Letter] = field(default_factory=list)
    is_open: bool = True

    async def post(self, _tenant: Tenant, letter: Letter) -> None:
        self.letters.append(letter)

    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool:
        until = self.clock.now() + every
        if not await SingleUse(self.store).spend(tenant, subject_matter, letter.to, until=until):
            return False
        self.letters.append(letter)
        return True


@dataclass(frozen=True)
class SentLink:
    issuer: str
    user_id: UserId
    code: str


@dataclass
class Company:
    """The providers through which users of domains sign in."""

    providers: dict[str, UpstreamProvider] = field(default_factory=dict)

    async def provider_in_charge(self, _tenant: Tenant, email: str) -> UpstreamProvider | None:
        return self.providers.get(email.rpartition("@")[2])


@dataclass
class PasswordLinks:
    """Records the users and redirect URIs of links to set a password."""

    made: list[tuple[str, str]] = field(default_factory=list)

    async def of_new_account(self, _tenant: Tenant, user: User, *, redirect_uri: str) -> str:
        self.made.append((user.email, redirect_uri))
        return f"https://id.example.com/auth/v1/users/{user.id}/reset/code"


class Desk:
    def __init__(self, config: UsersConfig = OPEN, passwords: Passwords | None = None) -> None:
        administration = self.administration = Administration()
        provider = self.provider = administration.provider
        self.tenant, self.store, self.clock = provider.tenant, provider.store, provider.clock
        self.post_office = PostOffice(self.store, self.clock)
        self.pauses = Pauses()
        self.company = Company()
        self.password_links = PasswordLinks()
        sources = {"clock": self.clock, "randomness": provider.randomness}
        self.links = ConfirmationLinks(
            links=Links(self.store, provider.hasher, **sources),
            mail_queue=self.post_office,
            events=provider.events,
            **sources,
        )
        protection = LoginProtectionConfig()
        limits = RegistrationLimits(
            self.store.of(REGISTRATION_ATTEMPTS),
            Addresses(protection),
            most=config.registration_limit,
            clock=self.clock,
        )
        shared = {
            "users": provider.users,
            "admission": RegistrationAdmission(proof_of_work=provider.proof_of_work, limits=limits),
            "settings": SettingsOfTenants(self.store.of(TENANTS)),
            "links": self.links,
            "equal_duration": EqualDuration(Delays(100, self.pauses)),
            "clock": self.clock,
        }
        self.registering = SelfRegistration(
            targets=self.company,
            password_choice=PasswordChoice(
                administration.policies,
                passwords or provider.passwords,
                self.clock,
                breach_list=NoBreachList(),
            ),
            groups=administration.groups,
            mail_queue=self.post_office,
            return_addresses=ReturnAddresses(provider.clients),
            events=provider.events,
            randomness=provider.randomness,
            config=config,
            **shared,
        )
        self.requests = ConfirmationRequests(mail=self.post_office, **shared)
        self.confirming = RegistrationConfirmation(
            users=provider.users,
            links=self.links,
            password_links=self.password_links,
            return_addresses=ReturnAddresses(provider.clients),
            events=provider.events,
            clock=self.clock,
        )

    @property
    def letters(self) -> list[Letter]:
        return self.post_office.letters

    @property
    def link(self) -> SentLink:
        """Return the link of the last mail."""
        return self.link_in(self.letters[-1])

    def link_in(self, letter: Letter) -> SentLink:
        found = _LINK.search(letter.text)
        assert found is not None, letter.text
        return SentLink(found["issuer"], UserId(found["user_id"]), found["code"])

    def close(self) -> None:
        self.provider.passwords.close()

    async def register(self, email: str = EVE, **fields: str) -> UpstreamProvider | None:
        peer_address = fields.pop("peer_address", ADDRESS)
        filled = {"password": PASSWORD, "proof_of_work": self.provider.solution()} | fields
        form = RegistrationForm(email=email, **filled)
        return await self.registering.register(self.tenant, form, peer_address=peer_address)

    async def ask_again(self, email: str = EVE, peer_address: str = ADDRESS) -> None:
        await self.requests.request(
            self.tenant,
            email=email,
            proof_of_work=self.provider.solution(),
            peer_address=peer_address,
        )

    async def confirm(self, link: SentLink, tenant: Tenant | None = None) -> Confirmation:
        return await self.confirming.confirm(
            tenant or self.tenant, link.user_id, link.code, peer_address=ADDRESS
        )

    async def look(self, link: SentLink) -> Confirmation:
        return await self.confirming.look(self.tenant, link.user_id, link.code)

    async def user(self, email: str = EVE) -> User | None:
        return await self.provider.users.find_by_email(self.tenant, email)

    async def known(self, email: str = EVE) -> User:
        user = await self.user(email)
        assert user is not None
        return user

    async def has_password(self, password: str, email: str = EVE) -> bool:
        user = await self.known(email)
        return await self.provider.passwords.verify("default", user.password_hash, password)

    async def everybody(self) -> list[User]:
        return list(await self.store.of(USERS).page(self.tenant.tenant_id))

    async def ask_of(self, settings: TenantSettings) -> None:
        """Change the tenant's settings."""
        records = self.store.of(TENANTS)
        before = await records.get(DEPLOYMENT, self.tenant.tenant_id)
        if before is not None:
            await records.replace(replace(before, settings=settings))
            return
        await records.insert(
            TenantRecord(
                tenant_id=DEPLOYMENT,
                id=self.tenant.tenant_id,
                name="Default",
                created_at=NOON,
                settings=settings,
            )
        )

    async def add_client(self, client: Client) -> None:
        await self.provider.register(client)

    async def told_of(self) -> set[tuple[str, str | None]]:
        return await self.administration.told_of()

    def advance(self, **span: float) -> None:
        self.clock.advance(timedelta(**span))
