"""Servicer for reading message subscriptions and correlated messages."""

from collections.abc import Mapping

from msgspec.structs import asdict

from gnomon.engine.v1 import message_subscription_service_pb2 as pb
from server.platform.call import Call
from server.rpc.reads import Shown, search
from server.store.entities import MessageSubscription
from server.store.ports import Store
from server.store.searchables import CORRELATED_MESSAGE_SUBSCRIPTIONS, MESSAGE_SUBSCRIPTIONS

_OF_TOOLS = "io.camunda.tool:"


class MessageSubscriptionServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_message_subscriptions(
        self, request: pb.SearchMessageSubscriptionsRequest, call: Call
    ) -> pb.SearchMessageSubscriptionsResponse:
        return await search(
            self._store,
            MESSAGE_SUBSCRIPTIONS,
            request,
            pb.SearchMessageSubscriptionsResponse,
            call,
            shown=_SHOWN,
        )

    async def search_correlated_message_subscriptions(
        self, request: pb.SearchCorrelatedMessageSubscriptionsRequest, call: Call
    ) -> pb.SearchCorrelatedMessageSubscriptionsResponse:
        return await search(
            self._store,
            CORRELATED_MESSAGE_SUBSCRIPTIONS,
            request,
            pb.SearchCorrelatedMessageSubscriptionsResponse,
            call,
        )


class MessageSubscriptionMatch(MessageSubscription, kw_only=True, gc=False):
    tool_properties: Mapping[str, str]


def _match(row: MessageSubscription) -> MessageSubscriptionMatch:
    properties = row.extension_properties.items()
    of_tools = {name: value for name, value in properties if name.startswith(_OF_TOOLS)}
    return MessageSubscriptionMatch(**asdict(row), tool_properties=of_tools)


_SHOWN = Shown(MessageSubscriptionMatch, _match)
