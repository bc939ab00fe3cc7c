"""Composes the sign-in and sign-out screens of clients."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import screen_service_pb2
from identity.admin.administrators import Administrators
from identity.admin.callers import Callers
from identity.admin.screens import ScreenAdministration
from identity.clients.screens import Screens
from identity.ground import Ground
from identity.rpc.admission import Admission
from identity.rpc.screen import ScreenServicer

_SCREENS = screen_service_pb2.DESCRIPTOR.services_by_name["ScreenService"]


def screens_on(ground: Ground) -> Screens:
    return Screens(ground.store, ground.clients)


class Screening:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, ground: Ground, callers: Callers) -> None:
        administration = ScreenAdministration(ground.store, Administrators(ground.standings), ground.events)
        self.servicers = {_SCREENS: ScreenServicer(Admission(ground.tenants, callers), administration)}
