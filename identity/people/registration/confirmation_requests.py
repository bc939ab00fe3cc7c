"""Requests for another confirmation link. The response does not reveal whether a mail is sent."""

from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.login_protection.equal_duration import EqualDuration
from identity.directory.users import Users
from identity.foundation.tenants import Tenant
from identity.people.registration.form import expect_address
from identity.people.registration.form_checks import RegistrationAdmission, Settings
from identity.people.registration.links import ConfirmationLinks
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound, Unavailable
from server.platform.records import Changed

_ATTEMPTS = 20


class Mail(Protocol):
    @property
    def is_open(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationRequests:
    users: Users
    admission: RegistrationAdmission
    settings: Settings
    links: ConfirmationLinks
    equal_duration: EqualDuration
    mail: Mail
    clock: Clock

    def expect_open(self) -> None:
        """Raise NotFound where no mail is configured."""
        if not self.mail.is_open:
            raise NotFound("mail is not configured")

    async def request(self, tenant: Tenant, *, email: str, proof_of_work: str, peer_address: str) -> None:
        """Raises InvalidArgument, PermissionDenied, ResourceExhausted, and NotFound for a used proof of work or no mail."""
        self.expect_open()
        address = expect_address(email)
        if not proof_of_work:
            raise InvalidArgument("expected a proof of work, which a script of the page computes")
        await self.admission.pass_through(tenant, peer_address, proof_of_work)
        await self.equal_duration.done(self._send(tenant, address))

    async def _send(self, tenant: Tenant, address: str) -> None:
        settings = await self.settings.of(tenant)
        for _ in range(_ATTEMPTS):
            user = await self.users.find_by_email(tenant, address)
            if user is None or not (user.must_confirm_email and user.is_active(self.clock.now())):
                return
            again = self.links.again(user.registration)
            if again is None:
                return
            try:
                kept = await self.users.replace(replace(user, registration=again))
            except Changed:
                continue
            await self.links.send(tenant, kept, settings)
            return
        raise Unavailable("too many requests change the account at the same time")
