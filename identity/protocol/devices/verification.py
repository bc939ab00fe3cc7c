"""User interaction of the device grant: shows the request of a device and takes the decision, RFC 8628 §3.3."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from identity.access.device import DEVICE_CODES, DeviceCode, DeviceCodeState
from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Authentication
from identity.access.sessions.sessions import Sessions, expect_own, proved
from identity.directory.authorization_details.detail_types import DetailTypes, ShownDetail
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.directory.consents.consent import pair_of
from identity.directory.secrets import SecretHasher
from identity.foundation.tenants import Tenant
from identity.protocol.devices.limits import UserCodeGuesses
from identity.protocol.devices.user_codes import canonical
from server.platform.clock import Clock
from server.platform.errors import NotFound, Unauthenticated, Unavailable
from server.platform.records import Changed, RecordStore

_ATTEMPTS = 5


class ProofOfWork(Protocol):
    async def spend(self, tenant: Tenant, solution: str, /) -> None:
        """Raises PermissionDenied for a wrong solution, NotFound for one that was used."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A user code from a form, with a proof of work."""

    tenant: Tenant
    browser: Browser
    user_code: str = field(repr=False)
    proof_of_work: str


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """The device's request as shown to the user, so that the user can recognize a stranger's device."""

    code: DeviceCode
    client: Client
    details: Sequence[ShownDetail]


Decision = Callable[[DeviceCode, Authentication], DeviceCode]


def looked_at(code: DeviceCode, _authentication: Authentication) -> DeviceCode:
    return code


def accepted(code: DeviceCode, authentication: Authentication) -> DeviceCode:
    """Accept the request; without a `sid`, because the device outlives the browser session."""
    return replace(
        code,
        state=DeviceCodeState.ACCEPTED,
        authentication=replace(authentication, sid=""),
        pair=pair_of(authentication.user_id, code.client_id),
    )


def declined(code: DeviceCode, _authentication: Authentication) -> DeviceCode:
    return replace(code, state=DeviceCodeState.DECLINED)


class DeviceVerification:
    def __init__(
        self,
        sessions: Sessions,
        proof_of_work: ProofOfWork,
        *,
        guesses: UserCodeGuesses,
        clients: Clients,
        records: RecordStore,
        secrets: SecretHasher,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._proof_of_work = proof_of_work
        self._guesses = guesses
        self._clients = clients
        self._details = DetailTypes(records)
        self._codes = records.of(DEVICE_CODES)
        self._secrets = secrets
        self._clock = clock

    async def decide(self, question: Question, decision: Decision) -> DeviceRequest:
        """Apply the decision of the signed-in user; returns the request of the device.

        Raises Unauthenticated, PermissionDenied, ResourceExhausted, and NotFound when no device waits with this code.
        """
        tenant, browser = question.tenant, question.browser
        session = await proved(self._sessions, tenant, browser)
        if session.authentication is None:
            raise Unauthenticated("no user is signed in")
        expect_own(session)
        await self._proof_of_work.spend(tenant, question.proof_of_work)
        person = {"user_id": session.authentication.user_id, "peer_address": browser.peer_address}
        await self._guesses.begin(tenant, **person)
        asked_for = await self._decided(question, decision, session.authentication)
        await self._guesses.give_back(tenant, **person)
        return asked_for

    async def _decided(
        self, question: Question, decision: Decision, authentication: Authentication
    ) -> DeviceRequest:
        """Apply the decision. A poll of the device changes the same record, so this may take several attempts."""
        for _ in range(_ATTEMPTS):
            code = await self._waiting(question)
            client = await self._clients.find(question.tenant, code.client_id)
            if client is None or not client.is_enabled:
                raise NotFound("no device waits for this code")
            decided = decision(code, authentication)
            if decided is code:
                return await self._shown(question.tenant, code, client)
            try:
                return await self._shown(question.tenant, await self._codes.replace(decided), client)
            except Changed:
                continue
        raise Unavailable.untouched("the device code is changed too often at the moment")

    async def _shown(self, tenant: Tenant, code: DeviceCode, client: Client) -> DeviceRequest:
        return DeviceRequest(code, client, await self._details.shown(tenant, code.authorization_details))

    async def _waiting(self, question: Question) -> DeviceCode:
        user_code_hash = self._secrets.hash(canonical(question.user_code)).hex()
        found = await self._codes.find(question.tenant.tenant_id, "user_code_hash", user_code_hash, most=1)
        waiting = [
            code
            for code in found
            if code.state is DeviceCodeState.PENDING and self._clock.now() < code.redeemable_until
        ]
        if not waiting:
            raise NotFound("no device waits for this code")
        return waiting[0]
