"""ScreenService."""

from gnomon.identity.v1 import screen_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import fields_of, message_of
from identity.authentication.rpc.shown_screen import screen_message
from identity.authentication.screens.screen import ScreenKind
from identity.authentication.screens.settings import ScreenSettings
from identity.clients.screens import ScreenAdministration, etag_of
from server.platform.call import Call

_KINDS = {pb.SCREEN_KIND_LOGIN: ScreenKind.LOGIN, pb.SCREEN_KIND_LOGOUT: ScreenKind.LOGOUT}


class ScreenServicer:
    def __init__(self, admission: Admission, administration: ScreenAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def get_client_screens(
        self, request: pb.GetClientScreensRequest, _call: Call
    ) -> pb.GetClientScreensResponse:
        tenant, _ = await self._admission.of(request)
        kept = await self._administration.find(tenant, request.client_id)
        return pb.GetClientScreensResponse(
            settings=message_of(pb.ScreenSettings, kept.settings), etag=kept.etag
        )

    async def update_client_screens(
        self, request: pb.UpdateClientScreensRequest, _call: Call
    ) -> pb.UpdateClientScreensResponse:
        tenant, actor = await self._admission.of(request)
        saved = await self._administration.save(
            tenant, request.client_id, _settings(request.settings), if_match=request.if_match, actor=actor
        )
        return pb.UpdateClientScreensResponse(
            settings=message_of(pb.ScreenSettings, saved.settings),
            removed_rules=pb.RemovedRules(**saved.removed_rules),
            etag=etag_of(saved.settings),
        )

    async def preview_client_screen(
        self, request: pb.PreviewClientScreenRequest, _call: Call
    ) -> pb.PreviewClientScreenResponse:
        # A preview needs the same right as saving the draft.
        tenant, _ = await self._admission.of(request)
        shown = await self._administration.preview(
            tenant, request.client_id, _settings(request.settings), kind=_KINDS[request.kind]
        )
        return pb.PreviewClientScreenResponse(screen=screen_message(shown), client_name=shown.client.name)


def _settings(message: pb.ScreenSettings) -> ScreenSettings:
    """Raises InvalidArgument for a theme or a composition that there is not."""
    return ScreenSettings(**fields_of(message, ScreenSettings))
