"""A peer of an earlier version does not know every operation."""

import grpc
import pytest
from google.rpc.status_pb2 import Status
from grpc.aio import AioRpcError, Metadata

from server.platform.channels import error_of
from server.platform.errors import Internal, ModeNotSupported, ServiceError

UNKNOWN = grpc.StatusCode.UNIMPLEMENTED.value[0]


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        pytest.param(None, ModeNotSupported, id="gRPC"),
        pytest.param(Status(code=UNKNOWN), ModeNotSupported, id="tunnel"),
        pytest.param(Status(code=grpc.StatusCode.INTERNAL.value[0]), Internal, id="another status"),
    ],
)
def test_an_unknown_operation_is_not_taken_for_a_fault(
    details: Status | None, expected: type[ServiceError]
) -> None:
    trailing = [] if details is None else [("grpc-status-details-bin", details.SerializeToString())]
    failure = AioRpcError(grpc.StatusCode.UNIMPLEMENTED, Metadata(), Metadata(*trailing))

    assert type(error_of(failure)) is expected
