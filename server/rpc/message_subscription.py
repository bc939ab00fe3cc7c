"""Servicer for reading message subscriptions and correlated messages."""

from gnomon.engine.v1 import message_subscription_service_pb2 as pb
from server.platform.call import Call
from server.rpc.reads import search, search_messages
from server.store.ports import Store
from server.store.searchables import CORRELATED_MESSAGE_SUBSCRIPTIONS, MESSAGE_SUBSCRIPTIONS

_OF_TOOLS = "io.camunda.tool:"


class MessageSubscriptionServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_message_subscriptions(
        self, request: pb.SearchMessageSubscriptionsRequest, call: Call
    ) -> pb.SearchMessageSubscriptionsResponse:
        response = await search_messages(
            self._store, MESSAGE_SUBSCRIPTIONS, request, pb.SearchMessageSubscriptionsResponse, call
        )
        for item in response.items:
            properties = item.extension_properties.items()
            item.tool_properties.update({k: v for k, v in properties if k.startswith(_OF_TOOLS)})
        return response

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
