"""Users who get notices about their accounts."""

from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.networks.config import NetworksConfig
from identity.access.networks.networks import Networks
from identity.access.sessions.browser import Browser
from identity.access.sessions.device_cookies import DeviceCookies
from identity.directory.consents.support_access import SupportAccesses
from identity.directory.tenants.settings import SignInNotice, TenantSettings
from identity.directory.tenants.settings_of_tenants import SettingsOfTenants
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS, TenantRecord
from identity.directory.user import UserId
from identity.foundation.events.kinds import EventType
from identity.people.notices.notices import Notices
from identity.people.notices.places import PlaceWatch
from identity.people.notices.revocations import Revocations
from identity.people.notices.sign_ins import SignInNotices
from tests.identity.administration.administration import ALICE, Administration

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


class Told(Administration):
    def __init__(self, networks: Networks | None = None) -> None:
        super().__init__()
        provider = self.provider
        self.revocations = Revocations(
            users=provider.users,
            links=self.links,
            sign_out=self.sign_out,
            places=self.places,
            support=SupportAccesses(self.store, provider.clock),
            events=self.told,
            clock=provider.clock,
        )
        self.watch = PlaceWatch(
            places=self.places,
            addresses=Addresses(LoginProtectionConfig()),
            networks=networks or Networks(NetworksConfig()),
            cookies=DeviceCookies(hasher=provider.hasher, randomness=provider.randomness),
            notices=SignInNotices(
                settings=SettingsOfTenants(self.store.of(TENANTS)),
                revocations=self.revocations,
                mail=self.mail,
            ),
            events=self.told,
            clock=self.clock,
        )
        self.told.listen(
            Notices(
                tenants=provider.tenants, users=provider.users, revocations=self.revocations, mail=self.mail
            )
        )

    async def emit(
        self,
        event_type: EventType,
        *,
        user_id: str = ALICE,
        ip: str = "192.0.2.7",
        text: str | None = None,
        session: str | None = None,
    ) -> None:
        """Emit a security event about Alice."""
        await self.told.emit(
            self.tenant.tenant_id, event_type, user_id=user_id, ip=ip, text=text, session=session
        )

    async def sign_in_from(
        self, address: str, cookie: str = "", *, user_id: str = ALICE, user_agent: str = FIREFOX
    ) -> str:
        """Note a sign-in with a cookie of an earlier one, and return the cookie of the browser."""
        user = await self.provider.users.find(self.tenant, UserId(user_id))
        assert user is not None
        browser = Browser(peer_address=address, device=cookie, user_agent=user_agent)
        return await self.watch.note(self.tenant, user, browser, sid="s1")

    async def notify(self, notice: SignInNotice) -> None:
        """Set when the tenant notifies users of sign-ins."""
        await self.store.of(TENANTS).insert(
            TenantRecord(
                tenant_id=DEPLOYMENT,
                id=self.tenant.tenant_id,
                name="Default",
                settings=TenantSettings(sign_in_notice=notice),
                created_at=self.clock.now(),
            )
        )

    @property
    def subjects(self) -> list[str]:
        return [letter.subject for letter in self.mail.letters]

    def code(self) -> str:
        """Return the code of the revocation link, the last one in the last mail."""
        prefix, _, code = self.mail.letters[-1].text.split()[-1].rpartition("/")
        assert prefix == f"{self.tenant.issuer}users/{ALICE}/revoke"
        return code

    async def revoke(self, code: str, user_id: str = ALICE) -> None:
        await self.revocations.revoke(self.tenant, UserId(user_id), code, peer_address="192.0.2.9")
