"""Servicer for user tasks."""

from gnomon.engine.v1 import user_task_pb2 as entity_pb
from gnomon.engine.v1 import user_task_service_pb2 as pb
from server.engine.keys import Key
from server.engine.user_task_changes import DateChange
from server.engine.user_task_commands import (
    AssignUserTask,
    CompleteUserTask,
    UnassignUserTask,
    UpdateUserTask,
)
from server.partition.router import Router
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.rpc.dates import date_change
from server.rpc.forms import form_message, form_with
from server.rpc.origin import origin_of
from server.rpc.reads import found, get, search
from server.rpc.user_task_audit_log import search_audit_logs
from server.rpc.user_task_variables import search_effective_variables, search_variables
from server.rpc.variables import variables_of
from server.store.entities import UserTask
from server.store.ports import Store
from server.store.searchables import USER_TASKS


class UserTaskServicer:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    async def search_user_tasks(
        self, request: pb.SearchUserTasksRequest, call: Call
    ) -> pb.SearchUserTasksResponse:
        return await search(self._store, USER_TASKS, request, pb.SearchUserTasksResponse, call)

    async def get_user_task(self, request: pb.GetUserTaskRequest, call: Call) -> pb.GetUserTaskResponse:
        row = await get(self._store, UserTask, request.user_task_key, call, entity_pb.UserTask)
        return pb.GetUserTaskResponse(user_task=row)

    async def assign_user_task(
        self, request: pb.AssignUserTaskRequest, call: Call
    ) -> pb.AssignUserTaskResponse:
        command = AssignUserTask(
            tenant_id=call.tenant_id,
            user_task_key=Key(request.user_task_key),
            assignee=request.assignee,
            allow_override=request.allow_override or not request.HasField("allow_override"),
            action=request.action or "assign",
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.AssignUserTaskResponse()

    async def unassign_user_task(
        self, request: pb.UnassignUserTaskRequest, call: Call
    ) -> pb.UnassignUserTaskResponse:
        command = UnassignUserTask(call.tenant_id, Key(request.user_task_key))
        await self._router.submit(command, origin_of(request, call))
        return pb.UnassignUserTaskResponse()

    async def update_user_task(
        self, request: pb.UpdateUserTaskRequest, call: Call
    ) -> pb.UpdateUserTaskResponse:
        changes = request.changeset
        if not changes.ListFields() and not request.action:
            raise InvalidArgument("changeset: expected a change, or an action", field="changeset")
        command = UpdateUserTask(
            tenant_id=call.tenant_id,
            user_task_key=Key(request.user_task_key),
            candidate_groups=_names(changes, "candidate_groups"),
            candidate_users=_names(changes, "candidate_users"),
            due_date=_date_change(changes, "due_date"),
            follow_up_date=_date_change(changes, "follow_up_date"),
            priority=changes.priority if changes.HasField("priority") else None,
            action=request.action or "update",
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.UpdateUserTaskResponse()

    async def complete_user_task(
        self, request: pb.CompleteUserTaskRequest, call: Call
    ) -> pb.CompleteUserTaskResponse:
        command = CompleteUserTask(
            call.tenant_id,
            Key(request.user_task_key),
            variables_of(request.variables),
            request.action or "complete",
        )
        await self._router.submit(command, origin_of(request, call))
        return pb.CompleteUserTaskResponse()

    async def get_user_task_form(
        self, request: pb.GetUserTaskFormRequest, call: Call
    ) -> pb.GetUserTaskFormResponse:
        row = await found(self._store, UserTask, request.user_task_key, call)
        form = await form_with(self._store, row.form_key, call)
        return pb.GetUserTaskFormResponse(form=None if form is None else form_message(form))

    async def search_user_task_variables(
        self, request: pb.SearchUserTaskVariablesRequest, call: Call
    ) -> pb.SearchUserTaskVariablesResponse:
        row = await found(self._store, UserTask, request.user_task_key, call)
        return await search_variables(self._store, row, request, call)

    async def search_user_task_effective_variables(
        self, request: pb.SearchUserTaskEffectiveVariablesRequest, call: Call
    ) -> pb.SearchUserTaskEffectiveVariablesResponse:
        row = await found(self._store, UserTask, request.user_task_key, call)
        return await search_effective_variables(self._store, row, request, call)

    async def search_user_task_audit_logs(
        self, request: pb.SearchUserTaskAuditLogsRequest, call: Call
    ) -> pb.SearchUserTaskAuditLogsResponse:
        await found(self._store, UserTask, request.user_task_key, call)
        return await search_audit_logs(self._store, request, call)


def _names(changes: pb.UserTaskChangeset, field: str) -> tuple[str, ...] | None:
    return tuple(getattr(changes, field).names) if changes.HasField(field) else None  # type: ignore[arg-type]  # by its name


def _date_change(changes: pb.UserTaskChangeset, field: str) -> DateChange | None:
    """The change of a date, None if it is not changed; raises InvalidArgument."""
    if not changes.HasField(field):  # type: ignore[arg-type]  # by its name
        return None
    return date_change(getattr(changes, field), f"changeset.{field}")
