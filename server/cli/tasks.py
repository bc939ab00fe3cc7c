"""`gnomon tasks`: list user tasks, claim or complete one."""

from typing import Annotated

import typer

from gnomon.engine.v1 import user_task_pb2
from gnomon.engine.v1 import user_task_service_pb2 as pb
from gnomon.engine.v1.user_task_service_pb2_grpc import UserTaskServiceStub
from server.cli.choices import NEWEST_FIRST, Limit, UserTaskState, equal, page
from server.cli.client_command import client_command
from server.cli.output import Output
from server.cli.session import Session
from server.cli.tables import table_of
from server.cli.terminal_table import Columns
from server.cli.variables import HELP, parse_variables

COLUMNS = Columns(
    "user tasks",
    {
        "Key": "user_task_key",
        "Name": "name",
        "State": "state",
        "Assignee": "assignee",
        "Priority": "priority",
        "Due": "due_date",
        "Process": "process_definition_id",
        "Instance": "process_instance_key",
        "Element": "element_id",
    },
    expendable=("Process", "Due", "Priority", "Element", "Instance", "Name", "State"),
)

_Key = Annotated[int, typer.Argument(min=1, help="Key of the user task.")]


@client_command
async def list_tasks(
    session: Session,
    output: Output,
    state: Annotated[
        UserTaskState, typer.Option(case_sensitive=False, help="Only those in this state.")
    ] = UserTaskState.CREATED,
    assignee: Annotated[str | None, typer.Option(help="Only those of this user.")] = None,
    *,
    group: Annotated[str | None, typer.Option(help="Only those that this group may claim.")] = None,
    process: Annotated[str | None, typer.Option(help="Only those of the process with this id.")] = None,
    limit: Limit = 50,
) -> None:
    request = pb.SearchUserTasksRequest(
        filter=pb.UserTaskFilter(
            state=state.filter(),
            assignee=equal(assignee),
            candidate_group=equal(group),
            process_definition_id=process,
        ),
        sort=[pb.UserTaskSort(field="creationDate", order=NEWEST_FIRST)],
        page=page(limit),
    )
    found = await session.call(UserTaskServiceStub(session.channel).SearchUserTasks, request)
    output.show(found, table_of(found.items, COLUMNS, total=found.page.total_items))


@client_command
async def claim(
    session: Session,
    output: Output,
    key: _Key,
    assignee: Annotated[str, typer.Argument(help="User who gets the task.")],
) -> None:
    request = pb.AssignUserTaskRequest(user_task_key=key, assignee=assignee, allow_override=False)
    await session.call(UserTaskServiceStub(session.channel).AssignUserTask, request)
    await _show(session, output, key)


@client_command
async def complete(
    session: Session,
    output: Output,
    key: _Key,
    variables: Annotated[str, typer.Option(help=HELP)] = "{}",
) -> None:
    request = pb.CompleteUserTaskRequest(user_task_key=key, variables=parse_variables(variables))
    await session.call(UserTaskServiceStub(session.channel).CompleteUserTask, request)
    await _show(session, output, key)


async def _show(session: Session, output: Output, key: int) -> None:
    request = pb.GetUserTaskRequest(user_task_key=key)
    answer = await session.call(UserTaskServiceStub(session.channel).GetUserTask, request)
    tasks: list[user_task_pb2.UserTask] = [answer.user_task]
    output.show(answer, table_of(tasks, COLUMNS))
