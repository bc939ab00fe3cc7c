"""ProofOfWorkService."""

from gnomon.identity.v1 import proof_of_work_service_pb2 as pb
from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations


class ProofOfWorkServicer(Operations):
    def __init__(self, admission: TenantAdmission, proof_of_work: ProofOfWork) -> None:
        super().__init__(admission, {pb.IssueChallengeRequest: proof_of_work.challenge})
