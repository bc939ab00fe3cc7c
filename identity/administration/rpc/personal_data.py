"""PersonalDataService."""

from gnomon.identity.v1 import personal_data_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.administration.personal_data.exports import PersonalDataExport


class PersonalDataServicer(Operations):
    def __init__(self, admission: Admission, export: PersonalDataExport) -> None:
        super().__init__(admission, {pb.ExportPersonalDataRequest: export.page})
