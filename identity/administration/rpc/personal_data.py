"""PersonalDataService."""

from typing import Final

from gnomon.identity.v1 import personal_data_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.administration.personal_data.erasure import Erasure
from identity.administration.personal_data.erasures import Erasures
from identity.administration.personal_data.exports import PersonalDataExport
from server.platform.call import Call, TenantId

_KEPT: Final = (
    pb.KeptData(
        data="security events and audit entries, with the pseudonym",
        reason="they show what happened to the data of others, and are removed after their retention",
    ),
    pb.KeptData(
        data="variables, decisions, messages and documents of processes",
        reason="they belong to the process; their owner deletes them with the process instance",
    ),
    pb.KeptData(
        data="queued mails, sign-ins that have not ended, counters of failures",
        reason="they expire by themselves within a day",
    ),
    pb.KeptData(
        data="backups and logs of the deployment",
        reason="the server does not write them; their operator removes them",
    ),
)


class PersonalDataServicer(Operations):
    def __init__(self, admission: Admission, export: PersonalDataExport, erasures: Erasures) -> None:
        super().__init__(
            admission,
            {
                pb.ExportPersonalDataRequest: export.page,
                pb.EraseUserRequest: erasures.begin,
                pb.GetErasureRequest: erasures.get,
            },
            shows={Erasure: _message},
        )
        self._erasures = erasures

    async def claim_erasure(self, _request: pb.ClaimErasureRequest, _call: Call) -> pb.ClaimErasureResponse:
        erasure = await self._erasures.claim()
        if erasure is None:
            return pb.ClaimErasureResponse()
        return pb.ClaimErasureResponse(
            tenant_id=erasure.tenant_id,
            pseudonym=erasure.pseudonym,
            names=erasure.names,
            position=erasure.engine_after,
        )

    async def report_erasure(self, request: pb.ReportErasureRequest, _call: Call) -> pb.ReportErasureResponse:
        await self._erasures.report(
            TenantId(request.tenant_id),
            request.pseudonym,
            request.position,
            user_tasks=request.user_tasks,
            rows=request.rows,
            is_done=request.is_done,
        )
        return pb.ReportErasureResponse()


def _message(erasure: Erasure) -> pb.Erasure:
    completed_at = erasure.completed_at
    return pb.Erasure(
        pseudonym=erasure.pseudonym,
        is_completed=completed_at is not None,
        asked_at=int(erasure.asked_at.timestamp()),
        completed_at=None if completed_at is None else int(completed_at.timestamp()),
        asked_by=erasure.asked_by,
        removed_records=erasure.removed_records,
        rewritten_events=erasure.rewritten_events,
        user_tasks=erasure.user_tasks,
        rewritten_rows=erasure.rewritten_rows,
        kept=_KEPT,
    )
