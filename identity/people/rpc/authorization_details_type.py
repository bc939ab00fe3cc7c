"""AuthorizationDetailsTypeService."""

from gnomon.identity.v1 import authorization_details_type_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.labels import AuthorizationDetailsType
from identity.people.labels import Labels
from identity.people.rpc.labels import LabelChanges


class AuthorizationDetailsTypeServicer(Operations):
    def __init__(self, admission: Admission, types: Labels[AuthorizationDetailsType]) -> None:
        changes = LabelChanges(labels=types, kind=AuthorizationDetailsType, id_field="type_id")
        super().__init__(
            admission,
            {
                pb.ListAuthorizationDetailsTypesRequest: types.all,
                pb.CreateAuthorizationDetailsTypeRequest: changes.create,
                pb.UpdateAuthorizationDetailsTypeRequest: changes.update,
                pb.DeleteAuthorizationDetailsTypeRequest: named(types.remove, label_id="type_id"),
            },
        )
