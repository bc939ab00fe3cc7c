"""OneTimeCodeService."""

from collections.abc import Sequence

from gnomon.identity.v1 import one_time_code_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.authentication.one_time_codes.administration import CodeAdministration
from identity.authentication.one_time_codes.email_codes import EmailCodeAdministration
from identity.authentication.one_time_codes.enrolment import GeneratorEnrolment
from identity.authentication.one_time_codes.factors import Generator
from identity.authentication.one_time_codes.sign_in import CodeSignIn, SignedInByCode
from identity.authentication.rpc.browser import READS, remembered_factor, signed_in_response
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock


class OneTimeCodeServicer(Operations):
    def __init__(
        self,
        admission: Admission,
        *,
        administration: CodeAdministration,
        enrolment: GeneratorEnrolment,
        email_codes: EmailCodeAdministration,
        sign_in: CodeSignIn,
        clock: Clock,
    ) -> None:
        self._administration = administration
        self._sign_in = sign_in
        self._clock = clock
        super().__init__(
            admission,
            {
                pb.ListCodeGeneratorsRequest: self._generators,
                pb.StartCodeGeneratorRequest: enrolment.begin,
                pb.ConfirmCodeGeneratorRequest: named(enrolment.confirm, code="one_time_code"),
                pb.RenameCodeGeneratorRequest: administration.rename_own,
                pb.DeleteCodeGeneratorRequest: administration.remove,
                pb.GetRecoveryCodesRequest: self._recovery_codes,
                pb.CreateRecoveryCodesRequest: administration.make_recovery_codes,
                pb.DeleteRecoveryCodesRequest: administration.remove_recovery_codes,
                pb.GetEmailCodesRequest: email_codes.state,
                pb.TurnOnEmailCodesRequest: email_codes.turn_on,
                pb.TurnOffEmailCodesRequest: email_codes.turn_off,
                pb.SendEmailCodeRequest: named(email_codes.codes.send_again, name="code"),
                pb.SubmitOneTimeCodeRequest: named(sign_in.finish, name="code", code="one_time_code"),
            },
            reads=READS,
            shows={SignedInByCode: self._response},
        )

    async def _generators(self, tenant: Tenant, user_id: UserId) -> Sequence[Generator]:
        return (await self._administration.of_user(tenant, user_id)).generators

    async def _recovery_codes(self, tenant: Tenant, user_id: UserId) -> pb.GetRecoveryCodesResponse:
        found = await self._administration.of_user(tenant, user_id)
        made_at = found.recovery_made_at
        return pb.GetRecoveryCodesResponse(
            left=len(found.recovery_hashes),
            created=None if made_at is None else int(made_at.timestamp()),
        )

    def _response(self, by_code: SignedInByCode) -> pb.SubmitOneTimeCodeResponse:
        value, lifetime = by_code.remembered, self._sign_in.remembered.lifetime
        return signed_in_response(
            pb.SubmitOneTimeCodeResponse,
            by_code.signed_in,
            self._clock,
            remembered=remembered_factor(value, lifetime) if value else None,
        )
