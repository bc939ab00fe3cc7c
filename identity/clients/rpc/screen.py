"""ScreenService."""

from gnomon.identity.v1 import screen_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import fields_of, message_of
from identity.authentication.client_screens import ClientScreen
from identity.authentication.rpc.shown_screen import screen_message
from identity.authentication.screens.screen import ScreenKind
from identity.authentication.screens.settings import SanitizedScreens, ScreenSettings
from identity.clients.screens import ScreenAdministration, TaggedSettings, etag_of

_KINDS = {pb.SCREEN_KIND_LOGIN: ScreenKind.LOGIN, pb.SCREEN_KIND_LOGOUT: ScreenKind.LOGOUT}


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
            reads={ScreenSettings: _settings, ScreenKind: _KINDS.__getitem__},
            shows={TaggedSettings: _tagged, SanitizedScreens: _saved, ClientScreen: _previewed},
        )


def _tagged(kept: TaggedSettings) -> pb.GetClientScreensResponse:
    return pb.GetClientScreensResponse(settings=message_of(pb.ScreenSettings, kept.settings), etag=kept.etag)


def _saved(screens: SanitizedScreens) -> pb.UpdateClientScreensResponse:
    return pb.UpdateClientScreensResponse(
        settings=message_of(pb.ScreenSettings, screens.settings),
        removed_rules=pb.RemovedRules(**screens.removed_rules),
        etag=etag_of(screens.settings),
    )


def _previewed(shown: ClientScreen) -> pb.PreviewClientScreenResponse:
    return pb.PreviewClientScreenResponse(screen=screen_message(shown), client_name=shown.client.name)


def _settings(message: pb.ScreenSettings) -> ScreenSettings:
    """Raises InvalidArgument for an unknown theme or composition."""
    return ScreenSettings(**fields_of(message, ScreenSettings))
