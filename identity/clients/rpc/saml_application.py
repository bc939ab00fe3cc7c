"""SamlApplicationService."""

from gnomon.identity.v1 import saml_application_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.clients.saml_applications import SamlApplicationAdministration


class SamlApplicationServicer(Operations):
    def __init__(self, admission: Admission, applications: SamlApplicationAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListSamlApplicationsRequest: applications.page,
                pb.GetSamlApplicationRequest: applications.find,
                pb.PutSamlApplicationRequest: applications.put,
                pb.DeleteSamlApplicationRequest: applications.delete,
            },
            names={"require_signed_requests": "requires_signed_requests", "search": "text"},
        )
