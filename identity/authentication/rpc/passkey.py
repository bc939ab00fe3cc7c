"""PasskeyService."""

from typing import Protocol

from gnomon.identity.v1 import passkey_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.authentication.passkeys.administration import PasskeyAdministration
from identity.authentication.passkeys.ceremony import Purpose
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.proof import PasskeyProof
from identity.authentication.passkeys.registration import PasskeyRegistration
from identity.authentication.passkeys.sign_in import Challenge, PasskeySignIn
from identity.authentication.rpc.browser import (
    browser_of,
    reference_of,
    remembered_factor,
    signed_in_response,
)
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument

_PROOFS = {pb.PASSKEY_PURPOSE_MODIFICATION: Purpose.PROOF, pb.PASSKEY_PURPOSE_TEST: Purpose.TEST}


class PasskeyServicer(Operations):
    def __init__(
        self,
        admission: Admission,
        *,
        administration: PasskeyAdministration,
        registration: PasskeyRegistration,
        authentication: "PasskeyAuthentication",
    ) -> None:
        self.start_passkey_authentication = authentication.start
        self.finish_passkey_authentication = authentication.finish
        super().__init__(
            admission,
            {
                pb.ListPasskeysRequest: administration.of_user,
                pb.DeletePasskeyRequest: administration.remove,
                pb.ConvertToPasskeyRequest: administration.convert,
                pb.StartPasskeyRegistrationRequest: registration.start,
                pb.FinishPasskeyRegistrationRequest: registration.finish,
            },
        )


class LinkCeremony(Protocol):
    """The ceremony along with a link in a mail."""

    async def start(self, tenant: Tenant, user_id: UserId, cookie: str) -> tuple[str, str]: ...

    async def is_begun(self, tenant: Tenant, code: str) -> bool: ...

    async def finish(
        self, tenant: Tenant, user_id: UserId, cookie: str, *, code: str, answer: str
    ) -> str: ...


class PasskeyAuthentication:
    """Finishes a ceremony as a sign-in, as a proof, or along with a link, by its purpose."""

    def __init__(
        self,
        tenants: Tenants,
        admission: Admission,
        sign_in: PasskeySignIn,
        proof: PasskeyProof,
        *,
        link_ceremony: LinkCeremony,
        config: WebauthnConfig,
        clock: Clock,
    ) -> None:
        self._tenants = tenants
        self._admission = admission
        self._sign_in = sign_in
        self._proof = proof
        self._link_ceremony = link_ceremony
        self._config = config
        self._clock = clock

    async def start(
        self, request: pb.StartPasskeyAuthenticationRequest, _call: Call
    ) -> pb.StartPasskeyAuthenticationResponse:
        tenant = self._tenants.find(request.tenant_id)
        challenge = await self._challenge(tenant, request)
        return pb.StartPasskeyAuthenticationResponse(
            code=challenge.code,
            options=challenge.options,
            user_id=challenge.user_id,
            expires_in=self._config.challenge_secs,
        )

    async def finish(
        self, request: pb.FinishPasskeyAuthenticationRequest, _call: Call
    ) -> pb.FinishPasskeyAuthenticationResponse:
        tenant = self._tenants.find(request.tenant_id)
        if await self._proof.is_begun(tenant, request.code):
            person = await self._admission.of_person(request)
            proof = await self._proof.finish(person, request.code, answer=request.answer)
            return pb.FinishPasskeyAuthenticationResponse(code=proof)
        if await self._link_ceremony.is_begun(tenant, request.code):
            return pb.FinishPasskeyAuthenticationResponse(code=await self._shown(tenant, request))
        browser, user_id = browser_of(request.caller.browser), UserId(request.user_id)
        by_passkey = await self._sign_in.finish(
            tenant, browser, user_id, code=request.code, answer=request.answer
        )
        return signed_in_response(
            pb.FinishPasskeyAuthenticationResponse,
            by_passkey.signed_in,
            self._clock,
            remembered=remembered_factor(by_passkey.remembered, self._config.remembered),
        )

    async def _shown(self, tenant: Tenant, request: pb.FinishPasskeyAuthenticationRequest) -> str:
        return await self._link_ceremony.finish(
            tenant,
            UserId(request.user_id),
            request.reset_cookie,
            code=request.code,
            answer=request.answer,
        )

    async def _challenge(self, tenant: Tenant, request: pb.StartPasskeyAuthenticationRequest) -> Challenge:
        browser, user_id = browser_of(request.caller.browser), UserId(request.user_id)
        if request.purpose in _PROOFS:
            person = await self._admission.of_person(request)
            code, options = await self._proof.start(person, _PROOFS[request.purpose])
            return Challenge(code=code, options=options, user_id=user_id)
        if request.purpose == pb.PASSKEY_PURPOSE_PASSWORD_RESET:
            code, options = await self._link_ceremony.start(tenant, user_id, request.reset_cookie)
            return Challenge(code=code, options=options, user_id=user_id)
        if request.purpose == pb.PASSKEY_PURPOSE_LOGIN:
            return await self._sign_in.start(tenant, browser, request.code, user_id)
        if request.purpose == pb.PASSKEY_PURPOSE_DISCOVERABLE and not user_id:
            return await self._sign_in.start_for_anybody(tenant, browser, reference_of(request))
        raise InvalidArgument("purpose: expected one that the path allows")
