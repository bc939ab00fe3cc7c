"""Users who get notices about their accounts."""

from identity.directory.user import UserId
from identity.foundation.events.kinds import EventType
from identity.people.notices.notices import Notices
from identity.people.notices.revocations import Revocations
from tests.identity.administration.administration import ALICE, Administration
from tests.identity.mailbox import link_in


class Told(Administration):
    def __init__(self) -> None:
        super().__init__()
        provider = self.provider
        self.revocations = Revocations(
            users=provider.users,
            links=self.links,
            sign_out=self.sign_out,
            events=self.told,
            clock=provider.clock,
        )
        self.told.listen(self.places)
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

    async def sign_in_from(self, address: str, user_id: str = ALICE) -> None:
        await self.emit(EventType.LOGIN_SUCCEEDED, user_id=user_id, ip=address, session="s1")

    @property
    def subjects(self) -> list[str]:
        return [letter.subject for letter in self.mail.letters]

    def code(self) -> str:
        """Return the code of the revocation link in the last mail."""
        prefix, _, code = link_in(self.mail.letters[-1].text).rpartition("/")
        assert prefix == f"{self.tenant.issuer}users/{ALICE}/revoke"
        return code

    async def revoke(self, code: str, user_id: str = ALICE) -> None:
        await self.revocations.revoke(self.tenant, UserId(user_id), code, peer_address="192.0.2.9")
