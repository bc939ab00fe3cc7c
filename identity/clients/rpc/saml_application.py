"""SamlApplicationService."""

from gnomon.identity.v1 import saml_application_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import fields_of, message_of
from identity.clients.saml_applications import SamlApplicationAdministration
from identity.directory.tenants.saml_application import (
    SamlApplication,
    SamlApplicationFields,
    SamlAttribute,
    SamlConsumerService,
)

_NAMES = {"require_signed_requests": "requires_signed_requests"}


class SamlApplicationServicer(Operations):
    def __init__(self, admission: Admission, applications: SamlApplicationAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListSamlApplicationsRequest: applications.all,
                pb.GetSamlApplicationRequest: applications.find,
                pb.PutSamlApplicationRequest: applications.put,
                pb.DeleteSamlApplicationRequest: applications.delete,
            },
            reads={SamlApplicationFields: _fields},
            shows={SamlApplication: _message},
        )


def _fields(message: pb.SamlApplicationFields) -> SamlApplicationFields:
    return SamlApplicationFields(
        **fields_of(message, SamlApplicationFields, _NAMES, without=["attributes", "consumer_services"]),
        consumer_services=tuple(
            SamlConsumerService(url=each.url, index=each.index) for each in message.consumer_services
        ),
        attributes=tuple(SamlAttribute(name=each.name, claim=each.claim) for each in message.attributes),
    )


def _message(application: SamlApplication) -> pb.SamlApplication:
    fields = application.fields
    shown = message_of(
        pb.SamlApplicationFields,
        fields,
        _NAMES,
        consumer_services=[message_of(pb.SamlConsumerService, each) for each in fields.consumer_services],
        attributes=[message_of(pb.SamlAttribute, each) for each in fields.attributes],
    )
    return pb.SamlApplication(id=application.id, fields=shown)
