"""Messages about authorization details."""

from collections.abc import Iterable

from gnomon.identity.v1 import authorization_details_pb2 as pb
from identity.access.rpc.records import message_of
from identity.directory.authorization_details.detail_types import ShownDetail


def messages_of(details: Iterable[ShownDetail]) -> list[pb.AuthorizationDetail]:
    return [message_of(pb.AuthorizationDetail, each, detail=each.detail.encode()) for each in details]
