"""Composes the sign-in and sign-out screens of clients."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import screen_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.authentication.client_screens import Screens
from identity.clients.rpc.screen import ScreenServicer
from identity.clients.screens import ScreenAdministration
from identity.wiring.dependencies import Dependencies

_SCREENS = screen_service_pb2.DESCRIPTOR.services_by_name["ScreenService"]


def screens_on(dependencies: Dependencies) -> Screens:
    return Screens(dependencies.store, dependencies.clients)


class ClientScreenWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(self, dependencies: Dependencies, callers: Callers) -> None:
        administration = ScreenAdministration(
            dependencies.store, dependencies.administrators, dependencies.events
        )
        self.servicers = {_SCREENS: ScreenServicer(Admission(dependencies.tenants, callers), administration)}
