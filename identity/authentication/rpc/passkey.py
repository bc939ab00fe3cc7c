"""PasskeyService."""

from typing import Protocol

from gnomon.identity.v1 import passkey_service_pb2 as pb
from identity.access.callers import ActorKind
from identity.access.person import Person
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import message_of
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.passkeys.administration import PasskeyAdministration
from identity.authentication.passkeys.ceremony import Purpose
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.passkey import Passkey
from identity.authentication.passkeys.proof import PasskeyProof
from identity.authentication.passkeys.registration import PasskeyRegistration
from identity.authentication.passkeys.sign_in import Challenge, PasskeySignIn
from identity.authentication.rpc.browser import (
    browser_of,
    consent_page,
    parameters_of,
    redirect,
    session_cookie,
)
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant, Tenants
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument

_PROOFS = {pb.PASSKEY_PURPOSE_MODIFICATION: Purpose.PROOF, pb.PASSKEY_PURPOSE_TEST: Purpose.TEST}


class PasskeyServicer:
    def __init__(
        self,
        tenants: Tenants,
        admission: Admission,
        *,
        administration: PasskeyAdministration,
        registration: PasskeyRegistration,
        authentication: "PasskeyAuthentication",
    ) -> None:
        self._tenants = tenants
        self._admission = admission
        self._administration = administration
        self._registration = registration
        self._authentication = authentication

    async def list_passkeys(self, request: pb.ListPasskeysRequest, _call: Call) -> pb.ListPasskeysResponse:
        tenant, _ = await self._admission.of(request)
        found = await self._administration.of_user(tenant, UserId(request.user_id))
        return pb.ListPasskeysResponse(passkeys=map(_message, found))

    async def delete_passkey(self, request: pb.DeletePasskeyRequest, _call: Call) -> pb.DeletePasskeyResponse:
        tenant, actor = await self._admission.of(request)
        if actor.kind is ActorKind.USER and actor.id == request.user_id:
            await self._administration.remove_own(
                Person(tenant=tenant, actor=actor),
                request.name,
                modification_token=request.modification_token,
            )
        else:
            await self._administration.remove(tenant, UserId(request.user_id), request.name, actor=actor)
        return pb.DeletePasskeyResponse()

    async def convert_to_passkey(
        self, request: pb.ConvertToPasskeyRequest, _call: Call
    ) -> pb.ConvertToPasskeyResponse:
        person = await self._admission.of_person(request)
        await self._administration.convert(person, modification_token=request.modification_token)
        return pb.ConvertToPasskeyResponse()

    async def start_passkey_registration(
        self, request: pb.StartPasskeyRegistrationRequest, _call: Call
    ) -> pb.StartPasskeyRegistrationResponse:
        person = await self._admission.of_person(request)
        options = await self._registration.start(
            person, request.name, modification_token=request.modification_token
        )
        return pb.StartPasskeyRegistrationResponse(options=options)

    async def finish_passkey_registration(
        self, request: pb.FinishPasskeyRegistrationRequest, _call: Call
    ) -> pb.FinishPasskeyRegistrationResponse:
        person = await self._admission.of_person(request)
        await self._registration.finish(person, request.name, answer=request.answer)
        return pb.FinishPasskeyRegistrationResponse()

    async def start_passkey_authentication(
        self, request: pb.StartPasskeyAuthenticationRequest, _call: Call
    ) -> pb.StartPasskeyAuthenticationResponse:
        return await self._authentication.start(self._tenants.find(request.tenant_id), request)

    async def finish_passkey_authentication(
        self, request: pb.FinishPasskeyAuthenticationRequest, _call: Call
    ) -> pb.FinishPasskeyAuthenticationResponse:
        return await self._authentication.finish(self._tenants.find(request.tenant_id), request)


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
        admission: Admission,
        sign_in: PasskeySignIn,
        proof: PasskeyProof,
        *,
        link_ceremony: LinkCeremony,
        config: WebauthnConfig,
        clock: Clock,
    ) -> None:
        self._admission = admission
        self._sign_in = sign_in
        self._proof = proof
        self._link_ceremony = link_ceremony
        self._config = config
        self._clock = clock

    async def start(
        self, tenant: Tenant, request: pb.StartPasskeyAuthenticationRequest
    ) -> pb.StartPasskeyAuthenticationResponse:
        challenge = await self._challenge(tenant, request)
        return pb.StartPasskeyAuthenticationResponse(
            code=challenge.code,
            options=challenge.options,
            user_id=challenge.user_id,
            expires_in=self._config.challenge_secs,
        )

    async def finish(
        self, tenant: Tenant, request: pb.FinishPasskeyAuthenticationRequest
    ) -> pb.FinishPasskeyAuthenticationResponse:
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
        signed_in, outcome = by_passkey.signed_in, by_passkey.signed_in.outcome
        response = pb.FinishPasskeyAuthenticationResponse()
        if isinstance(outcome, ConsentQuestion):
            response.consent.CopyFrom(consent_page(outcome))
        else:
            response.redirect.CopyFrom(redirect(outcome))
        if signed_in.session is not None:
            response.cookie.CopyFrom(session_cookie(signed_in.cookie, signed_in.session, self._clock))
            response.remembered.value = by_passkey.remembered
            response.remembered.max_age = int(self._config.remembered.total_seconds())
        return response

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
            reference = Reference(
                authorization_id=request.authorization_id, parameters=parameters_of(request.parameters)
            )
            return await self._sign_in.start_for_anybody(tenant, browser, reference)
        raise InvalidArgument("purpose: expected one that the path allows")


def _message(passkey: Passkey) -> pb.Passkey:
    return message_of(pb.Passkey, passkey)
