"""SamlKeyService."""

from gnomon.identity.v1 import saml_key_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.administration.saml_keys import SamlKeyAdministration


class SamlKeyServicer(Operations):
    def __init__(self, admission: Admission, keys: SamlKeyAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListSamlKeysRequest: keys.all,
                pb.CreateSamlKeyRequest: keys.create_next,
                pb.ActivateSamlKeyRequest: keys.activate_next,
                pb.DeleteNextSamlKeyRequest: keys.delete_next,
            },
        )
