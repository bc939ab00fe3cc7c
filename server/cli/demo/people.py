"""People of the demo, who complete its user tasks."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from gnomon.engine.v1 import user_task_pb2
from gnomon.engine.v1 import user_task_service_pb2 as pb
from gnomon.engine.v1.user_task_service_pb2_grpc import UserTaskServiceStub
from gnomon.query.v1 import filter_pb2
from server.cli.choices import NEWEST_FIRST, UserTaskState, equal, page
from server.cli.session import Session
from server.platform.errors import InvalidState, NotFound

# Managers ignore tasks from this priority on, so that their deadline passes.
LEFT_TO_DIRECTORS = 80

_THEIRS = (
    pb.UserTaskFilter(
        state=UserTaskState.CREATED.filter(),
        candidate_group=equal("managers"),
        priority=filter_pb2.IntegerFilter(lt=LEFT_TO_DIRECTORS),
    ),
    pb.UserTaskFilter(state=UserTaskState.CREATED.filter(), candidate_group=equal("directors")),
)
_VARIABLES: Mapping[str, object] = {"isApproved": True}
_LOOK_SECONDS = 0.1
_PAGE = 100


class People:
    """Completes user tasks of the demo's groups while `run` runs."""

    def __init__(self, session: Session, tag: str) -> None:
        self._session = session
        self._stub = UserTaskServiceStub(session.channel)
        self._tag = tag

    async def run(self) -> None:
        while True:
            for matching in _THEIRS:
                for task in await self._found(matching):
                    if self._tag in task.tags:
                        await self._complete(task)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _found(self, matching: pb.UserTaskFilter) -> list[user_task_pb2.UserTask]:
        newest_first = [pb.UserTaskSort(field="creationDate", order=NEWEST_FIRST)]
        request = pb.SearchUserTasksRequest(filter=matching, sort=newest_first, page=page(_PAGE))
        return list((await self._session.call(self._stub.SearchUserTasks, request)).items)

    async def _complete(self, task: user_task_pb2.UserTask) -> None:
        request = pb.CompleteUserTaskRequest(
            user_task_key=task.user_task_key, variables=msgspec.json.encode(_VARIABLES)
        )
        # The task's deadline may pass at the same moment.
        with suppress(InvalidState, NotFound):
            await self._session.call(self._stub.CompleteUserTask, request)
