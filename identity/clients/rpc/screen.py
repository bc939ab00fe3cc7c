"""ScreenService."""

from gnomon.identity.v1 import screen_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import message_of
from identity.authentication.client_screens import ClientScreen
from identity.authentication.rpc.shown_screen import screen_message
from identity.authentication.screens.settings import SanitizedScreens
from identity.clients.screens import ScreenAdministration, etag_of


class ScreenServicer(Operations):
    def __init__(self, admission: Admission, screens: ScreenAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.GetClientScreensRequest: screens.find,
                pb.UpdateClientScreensRequest: named(screens.save, draft="settings"),
                # A preview needs the same right as saving the draft.
                pb.PreviewClientScreenRequest: named(screens.preview, draft="settings"),
            },
            shows={SanitizedScreens: _saved, ClientScreen: _previewed},
        )


def _saved(screens: SanitizedScreens) -> pb.UpdateClientScreensResponse:
    return pb.UpdateClientScreensResponse(
        settings=message_of(pb.ScreenSettings, screens.settings),
        removed_rules=pb.RemovedRules(**screens.removed_rules),
        etag=etag_of(screens.settings),
    )


def _previewed(shown: ClientScreen) -> pb.PreviewClientScreenResponse:
    return pb.PreviewClientScreenResponse(screen=screen_message(shown), client_name=shown.client.name)
