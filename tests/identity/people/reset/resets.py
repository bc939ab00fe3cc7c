"""Password resets as composed in production, over records in memory, with a fixed clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from identity.authentication.passkeys.account import PasskeyAccounts
from identity.authentication.passkeys.authenticators import Authenticators
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.registration import PasskeyRegistration
from identity.authentication.reauthentication.modification_tokens import (
    MODIFICATION_TOKENS,
    ModificationTokens,
)
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.directory.links.link import Usage
from identity.directory.tenants.providers import Provider
from identity.directory.user import USERS, AccountType, User, UserId
from identity.foundation.tenants import Tenant
from identity.people.reset.ceremony import LinkCeremony
from identity.people.reset.config import PasswordResetConfig
from identity.people.reset.link_mails import ResetMails
from identity.people.reset.magic_links import MagicLinks, OpenedLink, ShownLink
from identity.people.reset.redemption import AccountActivation
from identity.people.reset.requests import RESET_REQUESTS, RequestedReset, ResetRequest, ResetRequests
from tests.identity.administration.administration import ALICE, Administration
from tests.identity.browsers import ADDRESS

NEW_PASSWORD = "a new and quite long one"


@dataclass(frozen=True)
class Company:
    id: str = "corp"
    name: str = "Corp"
    is_enabled: bool = True


@dataclass
class Companies:
    """Domains with a provider through which their users sign in."""

    providers: dict[str, Provider] = field(default_factory=dict)

    async def provider_in_charge(self, _tenant: Tenant, email: str) -> Provider | None:
        return self.providers.get(email.rpartition("@")[2])


class NoOtherFactors:
    """No user has one-time codes."""

    async def without_passkeys(self, _tenant: Tenant, _user_id: UserId) -> None:
        return


class Resets(Administration):
    def __init__(self, config: PasswordResetConfig = PasswordResetConfig()) -> None:  # noqa: B008  # frozen
        super().__init__()
        provider = self.provider
        sources = {"clock": provider.clock, "randomness": provider.randomness}
        self.companies = Companies()
        self.magic_links = MagicLinks(
            links=self.links,
            users=provider.users,
            targets=self.companies,
            hasher=provider.hasher,
            config=config,
            **sources,
        )
        self.ceremony = LinkCeremony(
            magic_links=self.magic_links,
            passkeys=provider.passkeys,
            ceremonies=provider.ceremonies,
            assertion=provider.assertion,
        )
        self.activation = AccountActivation(
            magic_links=self.magic_links,
            ceremony=self.ceremony,
            registration=self._registration(),
            password_choice=self.password_choice,
            users=self.store.of(USERS),
            version=self.version,
            sign_out=self.sign_out,
            protection=provider.protection,
            events=self.told,
            clock=provider.clock,
        )
        self.reset_mails = ResetMails(
            users=provider.users,
            magic_links=self.magic_links,
            mail=self.mail,
            clock=provider.clock,
            config=config,
        )
        self.requests = ResetRequests(
            mail=self.mail,
            queue=self.store.of(RESET_REQUESTS),
            proof_of_work=provider.proof_of_work,
            clients=provider.clients,
            targets=self.companies,
            **sources,
        )

    def _registration(self) -> PasskeyRegistration:
        provider = self.provider
        shown_factors = ShownFactors(provider.users, provider.sessions)
        return PasskeyRegistration(
            users=provider.users,
            passkeys=provider.passkeys,
            ceremonies=provider.ceremonies,
            authenticators=Authenticators(WebauthnConfig()),
            modification_tokens=ModificationTokens(
                self.store.of(MODIFICATION_TOKENS),
                provider.hasher,
                shown_factors=shown_factors,
                clock=provider.clock,
                randomness=provider.randomness,
            ),
            shown_factors=shown_factors,
            accounts=PasskeyAccounts(
                users=provider.users,
                passkeys=provider.passkeys,
                other_factors=NoOtherFactors(),
                config=WebauthnConfig(),
            ),
            events=self.told,
            clock=provider.clock,
        )

    async def ask(self, email: str = "alice@example.com", **fields: str) -> None:
        requested = RequestedReset(email=email, **fields)
        await self.requests.ask(self.tenant, requested, proof_of_work=self.provider.solution())

    async def queued(self) -> list[ResetRequest]:
        return list(await self.store.of(RESET_REQUESTS).page(self.tenant.tenant_id))

    async def issue(self, usage: Usage = Usage.RESET_PASSWORD, user_id: str = ALICE) -> ShownLink:
        """Issue a link, and return it as a browser first sends it."""
        issued = await self.magic_links.issue(self.tenant, await self.user(user_id), usage)
        return ShownLink(user_id=UserId(user_id), code=issued.code)

    async def open(self, shown: ShownLink) -> ShownLink:
        """Open the link in a browser."""
        return held(shown, await self.magic_links.open(self.tenant, shown))

    async def set_password(
        self, shown: ShownLink, password: str = NEW_PASSWORD, passkey_code: str = ""
    ) -> str:
        return await self.activation.with_password(
            self.tenant, shown, password=password, passkey_code=passkey_code, peer_address=ADDRESS
        )

    async def has_password(self, password: str, user_id: str = ALICE) -> bool:
        user = await self.user(user_id)
        return await self.provider.passwords.verify("default", user.password_hash, password)

    async def change(self, **fields: object) -> User:
        """Change Alice, as another caller would."""
        return await self.provider.users.replace(replace(await self.user(), **fields))  # type: ignore[arg-type]


def held(shown: ShownLink, opened: OpenedLink) -> ShownLink:
    return replace(shown, cookie=opened.cookie, csrf_token=opened.csrf_token)


NEW_ACCOUNT: Mapping[str, object] = {
    "account_type": AccountType.NEW,
    "password_hash": "",
    "is_email_verified": False,
}
