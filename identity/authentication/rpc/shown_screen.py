"""Screens of clients as messages."""

from gnomon.identity.v1 import screen_pb2
from identity.authentication.client_screens import ClientScreen
from identity.authentication.screens.layout import LayoutElement


def screen_message(shown: ClientScreen | None) -> screen_pb2.Screen | None:
    """Return the screen as a message, None for the default theme."""
    if shown is None:
        return None
    screen = shown.screen
    return screen_pb2.Screen(
        theme=screen.theme,
        composition=screen.composition,
        accent_color=screen.accent_color,
        text_on_accent=screen.text_on_accent,
        heading=screen.heading,
        description=screen.description,
        client_logo_id=shown.client.logo_id if screen.shows_client_logo else "",
        css=screen.css,
        layout=None if screen.layout is None else _element(screen.layout),
        client_id=shown.client.id,
    )


def _element(element: LayoutElement) -> screen_pb2.LayoutElement:
    return screen_pb2.LayoutElement(
        name=element.name,
        attributes=element.attributes,
        text=element.text,
        children=map(_element, element.children),
    )
