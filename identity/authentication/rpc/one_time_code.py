"""OneTimeCodeService."""

from gnomon.identity.v1 import one_time_code_service_pb2 as pb
from identity.access.callers import ActorKind
from identity.access.person import Person
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import message_of
from identity.authentication.authorization.consent import ConsentQuestion
from identity.authentication.one_time_codes.administration import CodeAdministration
from identity.authentication.one_time_codes.enrolment import GeneratorEnrolment
from identity.authentication.one_time_codes.factors import Generator
from identity.authentication.one_time_codes.sign_in import CodeSignIn, SignedInByCode
from identity.authentication.rpc.browser import browser_of, consent_page, redirect, session_cookie
from identity.directory.user import UserId
from identity.foundation.tenants import Tenants
from server.platform.call import Call
from server.platform.clock import Clock


class OneTimeCodeServicer:
    def __init__(
        self,
        tenants: Tenants,
        admission: Admission,
        *,
        administration: CodeAdministration,
        enrolment: GeneratorEnrolment,
        sign_in: CodeSignIn,
        clock: Clock,
    ) -> None:
        self._tenants = tenants
        self._admission = admission
        self._administration = administration
        self._enrolment = enrolment
        self._sign_in = sign_in
        self._clock = clock

    async def list_code_generators(
        self, request: pb.ListCodeGeneratorsRequest, _call: Call
    ) -> pb.ListCodeGeneratorsResponse:
        tenant, _ = await self._admission.of(request)
        found = await self._administration.of_user(tenant, UserId(request.user_id))
        return pb.ListCodeGeneratorsResponse(generators=map(_message, found.generators))

    async def start_code_generator(
        self, request: pb.StartCodeGeneratorRequest, _call: Call
    ) -> pb.StartCodeGeneratorResponse:
        person = await self._admission.of_person(request)
        made = await self._enrolment.begin(
            person, request.name, modification_token=request.modification_token
        )
        return pb.StartCodeGeneratorResponse(
            id=made.id,
            secret=made.secret,
            otpauth_uri=made.otpauth_uri,
            expires_at=int(made.expires_at.timestamp()),
        )

    async def confirm_code_generator(
        self, request: pb.ConfirmCodeGeneratorRequest, _call: Call
    ) -> pb.ConfirmCodeGeneratorResponse:
        person = await self._admission.of_person(request)
        await self._enrolment.confirm(person, request.generator_id, code=request.one_time_code)
        return pb.ConfirmCodeGeneratorResponse()

    async def rename_code_generator(
        self, request: pb.RenameCodeGeneratorRequest, _call: Call
    ) -> pb.RenameCodeGeneratorResponse:
        person = await self._admission.of_person(request)
        await self._administration.rename_own(
            person, request.generator_id, name=request.name, modification_token=request.modification_token
        )
        return pb.RenameCodeGeneratorResponse()

    async def delete_code_generator(
        self, request: pb.DeleteCodeGeneratorRequest, _call: Call
    ) -> pb.DeleteCodeGeneratorResponse:
        tenant, actor = await self._admission.of(request)
        user_id, generator_id = UserId(request.user_id), request.generator_id
        if actor.kind is ActorKind.USER and actor.id == user_id:
            await self._administration.remove_own(
                Person(tenant=tenant, actor=actor),
                generator_id,
                modification_token=request.modification_token,
            )
        else:
            await self._administration.remove(tenant, user_id, generator_id, actor=actor)
        return pb.DeleteCodeGeneratorResponse()

    async def get_recovery_codes(
        self, request: pb.GetRecoveryCodesRequest, _call: Call
    ) -> pb.GetRecoveryCodesResponse:
        tenant, _ = await self._admission.of(request)
        found = await self._administration.of_user(tenant, UserId(request.user_id))
        made_at = found.recovery_made_at
        return pb.GetRecoveryCodesResponse(
            left=len(found.recovery_hashes),
            created=None if made_at is None else int(made_at.timestamp()),
        )

    async def create_recovery_codes(
        self, request: pb.CreateRecoveryCodesRequest, _call: Call
    ) -> pb.CreateRecoveryCodesResponse:
        person = await self._admission.of_person(request)
        codes = await self._administration.make_recovery_codes(
            person, modification_token=request.modification_token
        )
        return pb.CreateRecoveryCodesResponse(recovery_codes=codes)

    async def delete_recovery_codes(
        self, request: pb.DeleteRecoveryCodesRequest, _call: Call
    ) -> pb.DeleteRecoveryCodesResponse:
        tenant, actor = await self._admission.of(request)
        if actor.kind is ActorKind.USER and actor.id == request.user_id:
            person = Person(tenant=tenant, actor=actor)
            await self._administration.remove_own_recovery_codes(
                person, modification_token=request.modification_token
            )
        else:
            await self._administration.remove_recovery_codes(tenant, UserId(request.user_id), actor=actor)
        return pb.DeleteRecoveryCodesResponse()

    async def submit_one_time_code(
        self, request: pb.SubmitOneTimeCodeRequest, _call: Call
    ) -> pb.SubmitOneTimeCodeResponse:
        signed_in = await self._sign_in.finish(
            self._tenants.find(request.tenant_id),
            browser_of(request.browser),
            request.code,
            code=request.one_time_code,
        )
        return self._response(signed_in)

    def _response(self, by_code: SignedInByCode) -> pb.SubmitOneTimeCodeResponse:
        signed_in, outcome = by_code.signed_in, by_code.signed_in.outcome
        response = pb.SubmitOneTimeCodeResponse()
        if isinstance(outcome, ConsentQuestion):
            response.consent.CopyFrom(consent_page(outcome))
        else:
            response.redirect.CopyFrom(redirect(outcome))
        if signed_in.session is not None:
            response.cookie.CopyFrom(session_cookie(signed_in.cookie, signed_in.session, self._clock))
            if by_code.remembered:
                response.remembered.value = by_code.remembered
                response.remembered.max_age = int(self._sign_in.remembered.lifetime.total_seconds())
        return response


def _message(generator: Generator) -> pb.CodeGenerator:
    return message_of(pb.CodeGenerator, generator)
