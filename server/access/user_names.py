"""The names by which rows of processes refer to a user, from the directory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import grpc

from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from server.access.config import AccessConfig
from server.platform.call import TenantId
from server.platform.channels import Channel, error_of

if TYPE_CHECKING:
    from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceAsyncStub


class UserNames:
    """`channel` leads to the provider."""

    def __init__(self, channel: Channel, config: AccessConfig) -> None:
        self._directory: DirectoryServiceAsyncStub = DirectoryServiceStub(cast("grpc.aio.Channel", channel))
        self._timeout = config.call_timeout_seconds

    async def of(self, tenant_id: TenantId, user_id: str) -> Sequence[str]:
        """Return the names, the id first; raises NotFound, Unavailable."""
        request = pb.ListUserNamesRequest(tenant_id=tenant_id, user_id=user_id)
        try:
            return (await self._directory.ListUserNames(request, timeout=self._timeout)).names
        except grpc.RpcError as failure:
            raise error_of(failure) from failure
