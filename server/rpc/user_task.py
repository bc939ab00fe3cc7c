"""Lists the work of people; no element of this release makes any."""

from gnomon.engine.v1 import user_task_service_pb2 as pb
from server.platform.call import Call


class UserTaskServicer:
    async def list_user_tasks(self, request: pb.ListUserTasksRequest, call: Call) -> pb.ListUserTasksResponse:
        return pb.ListUserTasksResponse()
