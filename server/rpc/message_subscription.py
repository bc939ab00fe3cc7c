"""Reads message subscriptions, and the messages that were correlated to them."""

from gnomon.engine.v1 import message_subscription_service_pb2 as pb
from server.platform.call import Call
from server.rpc.searching import search
from server.store.ports import Store
from server.store.searchables import CORRELATED_MESSAGE_SUBSCRIPTIONS, MESSAGE_SUBSCRIPTIONS


class MessageSubscriptionServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_message_subscriptions(
        self, request: pb.SearchMessageSubscriptionsRequest, call: Call
    ) -> pb.SearchMessageSubscriptionsResponse:
        return await search(
            self._store, MESSAGE_SUBSCRIPTIONS, request, pb.SearchMessageSubscriptionsResponse, call
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
