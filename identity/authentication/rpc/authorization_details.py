"""Messages about authorization details."""

from collections.abc import Iterable

from gnomon.identity.v1 import authorization_details_pb2 as pb
from identity.directory.authorization_details.detail_types import ShownDetail


def messages_of(details: Iterable[ShownDetail]) -> list[pb.AuthorizationDetail]:
    return [
        pb.AuthorizationDetail(
            detail=each.detail.encode(),
            title=each.title,
            description=each.description,
            rows=[
                pb.AuthorizationDetailRow(label=row.label, values=row.values, is_boolean=row.is_boolean)
                for row in each.rows
            ],
        )
        for each in details
    ]
