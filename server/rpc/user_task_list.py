"""The list of user tasks, available only with durable history."""

from collections.abc import Iterator

from gnomon.engine.v1 import user_task_pb2 as entity_pb
from gnomon.engine.v1 import user_task_service_pb2 as pb
from server.platform.call import Call
from server.platform.mapping import mapper
from server.platform.query import Condition, Operator, Query, SortKey, Window, equals
from server.platform.query.cursor import position_of
from server.platform.query.model import DEFAULT_LIMIT
from server.rpc.reads import bounded
from server.rpc.user_task import UserTaskServicer
from server.store.entities import UserTask
from server.store.searchables import USER_TASKS

_user_task = mapper(UserTask, entity_pb.UserTask)


class DurableUserTaskServicer(UserTaskServicer):
    async def list_user_tasks(self, request: pb.ListUserTasksRequest, call: Call) -> pb.ListUserTasksResponse:
        page = await self._store.search(UserTask, bounded(_query(request)), tenant_id=call.tenant_id)
        return pb.ListUserTasksResponse(user_tasks=map(_user_task, page.items), cursor=page.end_cursor)


def _query(request: pb.ListUserTasksRequest) -> Query:
    conditions = tuple(_conditions(request))
    sort = (SortKey(USER_TASKS.key),)
    after = position_of(request.cursor, conditions, sort) if request.HasField("cursor") else None
    return Query(conditions, sort, Window(limit=request.page_size or DEFAULT_LIMIT, after=after))


def _conditions(request: pb.ListUserTasksRequest) -> Iterator[Condition]:
    for field, value in request.ListFields():
        match field.name:
            case "candidate_group" | "candidate_user":
                yield Condition(USER_TASKS.fields[USER_TASKS.items[field.name]], Operator.EQ, value)
            case "bpmn_process_id":
                yield equals(USER_TASKS, "process_definition_id", value)
            case "cursor" | "page_size":
                pass
            case name:
                yield equals(USER_TASKS, name, value)
