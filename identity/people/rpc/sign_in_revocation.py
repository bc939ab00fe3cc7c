"""SignInRevocationService."""

from gnomon.identity.v1 import sign_in_revocation_service_pb2 as pb
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.people.notices.revocations import Revocations


class SignInRevocationServicer(Operations):
    def __init__(self, admission: TenantAdmission, revocations: Revocations) -> None:
        super().__init__(
            admission,
            {
                pb.CheckRevocationLinkRequest: revocations.find,
                pb.RevokeSignInsRequest: revocations.revoke,
            },
        )
