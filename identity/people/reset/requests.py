"""Requests for a password reset: every address is queued, and its account is looked up later.

The response and its duration are therefore the same for every address.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.authentication.requests.login_hint import login_hint
from identity.delivery.retry_queue import QueuedTask
from identity.directory.client import Client
from identity.foundation.mail_address import email_key
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.people.reset.mail import Mail
from identity.people.reset.upstream_users import Targets, expect_no_company
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound
from server.platform.records import Kind, Records

_ID_LENGTH = 24
# By then the user has requested another link.
_QUEUED_FOR = timedelta(minutes=30)
# Our script navigates there, so `javascript:` and other schemes must be refused.
_OF_WEB = ("https://", "http://")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequest(QueuedTask):
    """A queued request for an e-mail address; afterwards the user continues at `redirect_uri`, if any."""

    email: str
    redirect_uri: str = ""


RESET_REQUESTS = Kind(ResetRequest, "reset_request", indexed=("due",), scheduled="next_at", owners=())


class Clients(Protocol):
    async def find(self, tenant: Tenant, client_id: str) -> Client | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedReset:
    """A request to reset a password; `client_id` and `redirect_uri` are empty when it was not started from a client."""

    email: str
    client_id: str = ""
    redirect_uri: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequests:
    mail: Mail
    queue: Records[ResetRequest]
    proof_of_work: ProofOfWork
    clients: Clients
    targets: Targets
    clock: Clock
    randomness: Randomness

    def expect_open(self) -> None:
        """Raise NotFound where no mail is configured."""
        if not self.mail.is_open:
            raise NotFound("mail is not configured")

    async def ask(self, tenant: Tenant, requested: RequestedReset, *, proof_of_work: str) -> None:
        """Queue a request.

        Raises NotFound, InvalidArgument, and PermissionDenied for an invalid proof of work or for an address whose
        users sign in through a provider.
        """
        self.expect_open()
        email = email_key(login_hint(requested.email))
        if not (email and proof_of_work):
            raise InvalidArgument(
                "expected an e-mail address, and a proof of work, which a script of the page computes"
            )
        await self.proof_of_work.spend(tenant, proof_of_work)
        redirect_uri = await self._way_on(tenant, requested)
        await expect_no_company(self.targets, tenant, email)
        now = self.clock.now()
        await self.queue.insert(
            ResetRequest(
                tenant_id=tenant.tenant_id,
                id=self.randomness.alphanumeric(_ID_LENGTH),
                expires_at=now + _QUEUED_FOR,
                attempts=0,
                next_at=now,
                email=email,
                redirect_uri=redirect_uri,
            )
        )

    async def _way_on(self, tenant: Tenant, requested: RequestedReset) -> str:
        """Return a registered address of the client, so that an attacker cannot choose where the link leads."""
        if not requested.client_id:
            if requested.redirect_uri:
                raise InvalidArgument("redirect_uri: expected client_id with it")
            return ""
        client = await self.clients.find(tenant, requested.client_id)
        if client is None or not client.is_enabled:
            raise InvalidArgument("client_id: there is no such client")
        if client.registration is not None:
            # The client registered itself, and no administrator has reviewed its addresses.
            return ""
        if not requested.redirect_uri:
            return client.client_uri if client.client_uri.startswith(_OF_WEB) else ""
        registered = {client.client_uri, *client.redirect_uris, *client.post_logout_redirect_uris}
        if requested.redirect_uri not in registered or not requested.redirect_uri.startswith(_OF_WEB):
            raise InvalidArgument("redirect_uri: expected one of the web that is registered for the client")
        return requested.redirect_uri
