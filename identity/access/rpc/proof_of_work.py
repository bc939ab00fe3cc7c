"""ProofOfWorkService."""

from gnomon.identity.v1 import proof_of_work_service_pb2 as pb
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.foundation.tenants import Tenants
from server.platform.call import Call


class ProofOfWorkServicer:
    def __init__(self, tenants: Tenants, proof_of_work: ProofOfWork) -> None:
        self._tenants = tenants
        self._proof_of_work = proof_of_work

    async def issue_challenge(
        self, request: pb.IssueChallengeRequest, _call: Call
    ) -> pb.IssueChallengeResponse:
        tenant = self._tenants.find(request.tenant_id)
        return pb.IssueChallengeResponse(challenge=self._proof_of_work.challenge(tenant))
