"""ScreenService."""

from enum import StrEnum
from typing import TypeVar

from gnomon.identity.v1 import screen_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.authentication.rpc.shown_screen import screen_message
from identity.authentication.screens.screen import ScreenKind
from identity.authentication.screens.settings import Composition, ScreenSettings, Theme
from identity.clients.screens import ScreenAdministration, etag_of
from server.platform.call import Call
from server.platform.errors import InvalidArgument

_KINDS = {pb.SCREEN_KIND_LOGIN: ScreenKind.LOGIN, pb.SCREEN_KIND_LOGOUT: ScreenKind.LOGOUT}

_Choice = TypeVar("_Choice", bound=StrEnum)


class ScreenServicer:
    def __init__(self, admission: Admission, administration: ScreenAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def get_client_screens(
        self, request: pb.GetClientScreensRequest, _call: Call
    ) -> pb.GetClientScreensResponse:
        tenant, _ = await self._admission.of(request)
        kept = await self._administration.find(tenant, request.client_id)
        return pb.GetClientScreensResponse(settings=_message(kept.settings), etag=kept.etag)

    async def update_client_screens(
        self, request: pb.UpdateClientScreensRequest, _call: Call
    ) -> pb.UpdateClientScreensResponse:
        tenant, actor = await self._admission.of(request)
        saved = await self._administration.save(
            tenant, request.client_id, _settings(request.settings), if_match=request.if_match, actor=actor
        )
        return pb.UpdateClientScreensResponse(
            settings=_message(saved.settings),
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
    given = _Given(message)
    return ScreenSettings(
        theme=_choice("theme", message.theme, Theme),
        composition=_choice("composition", message.composition, Composition),
        accent_color=message.accent_color,
        login_heading=message.login_heading,
        login_description=message.login_description,
        logout_heading=message.logout_heading,
        logout_description=message.logout_description,
        show_client_logo=message.show_client_logo,
        logout_theme=given.choice("logout_theme", Theme),
        logout_composition=given.choice("logout_composition", Composition),
        logout_accent_color=given.text("logout_accent_color"),
        logout_show_client_logo=(
            message.logout_show_client_logo if message.HasField("logout_show_client_logo") else None
        ),
        login_template=given.text("login_template"),
        logout_template=given.text("logout_template"),
        custom_css=given.text("custom_css"),
        logout_custom_css=given.text("logout_custom_css"),
    )


class _Given:
    """Optional members of a message, None when absent."""

    def __init__(self, message: pb.ScreenSettings) -> None:
        self._members = {field.name: value for field, value in message.ListFields()}
        self._message = message

    def text(self, name: str) -> str | None:
        return str(self._members[name]) if name in self._members else None

    def choice(self, name: str, kind: type[_Choice]) -> _Choice | None:
        text = self.text(name)
        return None if text is None else _choice(name, text, kind)


def _choice(name: str, text: str, kind: type[_Choice]) -> _Choice:
    try:
        return kind(text)
    except ValueError as error:
        raise InvalidArgument(f"{name}: expected {' or '.join(kind)}", field=name) from error


def _message(settings: ScreenSettings) -> pb.ScreenSettings:
    return pb.ScreenSettings(
        theme=settings.theme,
        composition=settings.composition,
        accent_color=settings.accent_color,
        login_heading=settings.login_heading,
        login_description=settings.login_description,
        logout_heading=settings.logout_heading,
        logout_description=settings.logout_description,
        show_client_logo=settings.show_client_logo,
        logout_theme=settings.logout_theme,
        logout_composition=settings.logout_composition,
        logout_accent_color=settings.logout_accent_color,
        logout_show_client_logo=settings.logout_show_client_logo,
        login_template=settings.login_template,
        logout_template=settings.logout_template,
        custom_css=settings.custom_css,
        logout_custom_css=settings.logout_custom_css,
    )
