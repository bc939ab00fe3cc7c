"""Screens of clients as messages."""

from gnomon.identity.v1 import screen_pb2
from identity.access.rpc.records import message_of
from identity.authentication.client_screens import ClientScreen


def screen_message(shown: ClientScreen | None) -> screen_pb2.Screen | None:
    """Return the screen as a message, None for the default theme."""
    if shown is None:
        return None
    logo_id = shown.client.logo_id if shown.screen.shows_client_logo else ""
    return message_of(screen_pb2.Screen, shown.screen, client_logo_id=logo_id, client_id=shown.client.id)
