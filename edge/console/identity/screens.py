"""Sign-in and sign-out screens of clients, with their previews."""

from typing import Final

from edge.console.identity.declarations import Column, Control, Form, FormField, Listing, Preview, RecordKind
from gnomon.identity.v1.screen_service_pb2 import SCREEN_KIND_LOGIN, SCREEN_KIND_LOGOUT
from server.platform.languages import marked

_THEMES: Final = ("light", "dark")
_COMPOSITIONS: Final = ("centered", "split")
_AS_SIGN_IN: Final = marked("Empty: as on the sign-in screen.")
_LAYOUT: Final = marked("In the layout language. Empty for the preset layout.")


def _text(path: str, label: str, hint: str = "", *, words: tuple[str, ...] = ()) -> FormField:
    """Return a setting without a value where the user enters none."""
    return FormField(path, label, hint, words=words, is_left_out=True)


def _document(path: str, label: str, hint: str = "") -> FormField:
    return FormField(path, label, hint, control=Control.AREA, is_left_out=True)


SCREENS: Final = RecordKind(
    name="screens",
    title=marked("Client screens"),
    noun="client",
    about=marked("The look of the pages on which users sign in to a client and out of it."),
    listing=Listing(
        rpc="ListClients",
        key="id",
        columns=(Column("id", marked("Client id"), sort="id"), Column("name", marked("Name"))),
        filters=(FormField("search", marked("Id or name")),),
        empty=marked("No client matches."),
    ),
    get="GetClientScreens",
    get_key="client_id",
    forms=(
        Form(
            name="change",
            rpc="UpdateClientScreens",
            keys=("client_id",),
            base=("settings", ""),
            prefix="settings",
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            preview=Preview(
                rpc="PreviewClientScreen",
                choice="kind",
                buttons=(
                    (SCREEN_KIND_LOGIN, marked("Preview the sign-in screen")),
                    (SCREEN_KIND_LOGOUT, marked("Preview the sign-out screen")),
                ),
            ),
            fields=(
                FormField("settings.theme", marked("Theme"), words=_THEMES, is_required=True),
                FormField(
                    "settings.composition", marked("Arrangement"), words=_COMPOSITIONS, is_required=True
                ),
                FormField("settings.accent_color", marked("Color of buttons"), control=Control.COLOR),
                FormField("settings.show_client_logo", marked("The logo of the client is shown")),
                FormField("settings.login_heading", marked("Heading of the sign-in screen")),
                FormField("settings.login_description", marked("Text of the sign-in screen")),
                _document("settings.login_template", marked("Layout of the sign-in screen"), _LAYOUT),
                _document("settings.custom_css", marked("Stylesheet")),
                FormField("settings.logout_heading", marked("Heading of the sign-out screen")),
                FormField("settings.logout_description", marked("Text of the sign-out screen")),
                _text(
                    "settings.logout_theme",
                    marked("Theme of the sign-out screen"),
                    _AS_SIGN_IN,
                    words=_THEMES,
                ),
                _text(
                    "settings.logout_composition",
                    marked("Arrangement of the sign-out screen"),
                    _AS_SIGN_IN,
                    words=_COMPOSITIONS,
                ),
                _text(
                    "settings.logout_accent_color",
                    marked("Color of buttons of the sign-out screen"),
                    _AS_SIGN_IN,
                ),
                _document("settings.logout_template", marked("Layout of the sign-out screen"), _LAYOUT),
                _document(
                    "settings.logout_custom_css", marked("Stylesheet of the sign-out screen"), _AS_SIGN_IN
                ),
            ),
        ),
    ),
)
