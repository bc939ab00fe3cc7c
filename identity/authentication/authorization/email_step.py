"""The first step of an e-mail-first sign-in: maps the address to its sign-in route.

No account is read: the answer depends only on the domain of the address.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.sessions.browser import Browser
from identity.access.sessions.sessions import Sessions, proved
from identity.authentication.authorization.asked import AskedRequests, Reference
from identity.authentication.authorization.start import SignInStep
from identity.authentication.requests.login_hint import login_hint
from identity.directory.tenants.sign_in_targets import Route
from identity.foundation.tenants import Tenant, Tenants
from server.platform.errors import InvalidArgument


class Targets(Protocol):
    async def route_of(self, tenant: Tenant, email: str) -> Route: ...

    async def owner_of(self, domain: str) -> Tenant | None: ...


@dataclass(frozen=True, slots=True)
class Routed:
    """`step` is the password page, used when the route allows a password."""

    route: Route
    step: SignInStep


class EmailStep:
    def __init__(
        self, sessions: Sessions, proof_of_work: ProofOfWork, *, asked: AskedRequests, targets: Targets
    ) -> None:
        self._sessions = sessions
        self._proof_of_work = proof_of_work
        self._asked = asked
        self._targets = targets

    async def submit(
        self, tenant: Tenant, browser: Browser, reference: Reference, *, email: str, proof_of_work: str
    ) -> Routed:
        """Raises Unauthenticated, InvalidArgument, PermissionDenied, and NotFound for a proof of work that was used."""
        session = await proved(self._sessions, tenant, browser)
        address = _address(email, proof_of_work)
        await self._proof_of_work.spend(tenant, proof_of_work)
        client, request = await self._asked.find(tenant, session, reference)
        step = SignInStep(
            authorization_id=reference.authorization_id,
            client=client,
            request=replace(request, login_hint=address),
            session=session,
            is_signed_in=False,
        )
        return Routed(await self._targets.route_of(tenant, address), step)


class SharedSignIn:
    """Routes an address to the tenant that owns its domain, and every other address to the default tenant."""

    def __init__(self, tenants: Tenants, proof_of_work: ProofOfWork, targets: Targets) -> None:
        self._tenants = tenants
        self._proof_of_work = proof_of_work
        self._targets = targets

    async def find(self, tenant: Tenant, *, email: str, proof_of_work: str) -> Tenant:
        """Raises InvalidArgument, PermissionDenied, and NotFound for a proof of work that was used."""
        address = _address(email, proof_of_work)
        await self._proof_of_work.spend(tenant, proof_of_work)
        return await self._targets.owner_of(address.rpartition("@")[2]) or self._tenants.default


def _address(email: str, proof_of_work: str) -> str:
    address = login_hint(email)
    if not (address and proof_of_work):
        raise InvalidArgument(
            "expected an e-mail address, and a proof of work, which a script of the page computes"
        )
    return address
