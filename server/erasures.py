"""The part of the engine in erasures of persons: a pseudonym takes the place of the person in tasks and audit entries.

The provider has the erasures. A process claims one, works in slices and reports its progress, so another process
continues after its end. Assignees and candidates of active user tasks change by commands, as if an administrator
assigned the task, so task listeners run.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, cast

import grpc

from gnomon.identity.v1 import personal_data_service_pb2 as pb
from gnomon.identity.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub
from server.engine.keys import Key
from server.engine.user_task_commands import AssignUserTask, UpdateUserTask
from server.partition.origin import Origin
from server.partition.router import Router
from server.platform.channels import Channel
from server.platform.errors import ServiceError, Unavailable
from server.store.pseudonyms import SLICE, ErasedPerson, NamingTask, Pseudonyms

logger = logging.getLogger(__name__)

_PASS_SECONDS: Final = 5.0
_CALL_SECONDS: Final = 10.0
# A listener of the task may take any time; the task is looked at again.
_TASK_SECONDS: Final = 5.0
_ACTOR: Final = "erasure"
_ACTION: Final = "erase"

Report = Callable[..., Awaitable[None]]
Rewrite = Callable[[ErasedPerson], Awaitable[int]]


class ProcessErasure:
    """The work in this process, over the rows of all partitions."""

    def __init__(self, pseudonyms: Pseudonyms, router: Router) -> None:
        self._pseudonyms = pseudonyms
        self.router = router

    async def run(self, person: ErasedPerson, position: str, report: Report) -> None:
        """Erase the person after a position, with a report for each slice; raises Unavailable."""
        await report(position, user_tasks=await self._change_tasks(person))
        await self._rewrite(self._pseudonyms.rewrite_tasks, person, position, report)
        operations = await self._rewrite(self._pseudonyms.rewrite_batch_operations, person, position, report)
        following: str | None = position
        while following is not None:
            entries = await self._pseudonyms.rewrite_entries(person, following)
            following = entries.position
            await report(following or "", rows=entries.count)
        # Items of batch operations that have just ended may still be processed, in the name of the person.
        is_waiting = operations or await self._pseudonyms.has_unfinished_batch_operation(person)
        if not is_waiting and not await self._pseudonyms.tasks(person, after=Key(0)):
            # The last ended tasks may have moved to history after it was rewritten.
            await self._rewrite(self._pseudonyms.rewrite_tasks, person, "", report)
            await report("", is_done=True)

    async def _rewrite(self, rewrite: Rewrite, person: ErasedPerson, position: str, report: Report) -> int:
        count, total = SLICE, 0
        while count == SLICE:
            count = await rewrite(person)
            total += count
            await report(position, rows=count)
        return total

    async def _change_tasks(self, person: ErasedPerson) -> int:
        changed, after = 0, Key(0)
        while tasks := await self._pseudonyms.tasks(person, after=after):
            for task in tasks:
                changed += await self._change(person, task)
            after = tasks[-1].key
        return changed

    async def _change(self, person: ErasedPerson, task: NamingTask) -> bool:
        """Whether the task names the person no more; a task that changes at the same time is looked at again."""
        origin = Origin(tenant_id=person.tenant_id, actor_id=_ACTOR, request_id=person.pseudonym)
        try:
            async with asyncio.timeout(_TASK_SECONDS):
                if task.is_assigned:
                    assignment = AssignUserTask(
                        tenant_id=person.tenant_id,
                        user_task_key=task.key,
                        assignee=person.pseudonym,
                        allow_override=True,
                        action=_ACTION,
                    )
                    await self.router.submit(assignment, origin)
                if task.candidate_users:
                    update = UpdateUserTask(
                        tenant_id=person.tenant_id,
                        user_task_key=task.key,
                        candidate_users=tuple(dict.fromkeys(task.candidate_users)),
                        action=_ACTION,
                    )
                    await self.router.submit(update, origin)
        except (ServiceError, TimeoutError):
            return False
        return True


class ErasureWork:
    """Claims erasures; `channel` leads to the provider, `current` returns the part of the present engine."""

    def __init__(self, channel: Channel, current: Callable[[], ProcessErasure]) -> None:
        self._provider = PersonalDataServiceStub(cast("grpc.aio.Channel", channel))
        self._current = current

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await asyncio.sleep(_PASS_SECONDS)
            try:
                await self.finish()
            except (grpc.RpcError, Unavailable):
                logger.warning("an erasure was interrupted; it continues later")

    async def finish(self) -> None:
        """Work on every erasure that no other process works on; raises RpcError, Unavailable."""
        while True:
            claimed = await self._provider.ClaimErasure(pb.ClaimErasureRequest(), timeout=_CALL_SECONDS)
            if not claimed.pseudonym:
                return
            person = ErasedPerson(
                tenant_id=claimed.tenant_id, names=tuple(claimed.names), pseudonym=claimed.pseudonym
            )

            async def report(
                position: str, *, person: ErasedPerson = person, is_done: bool = False, **counts: int
            ) -> None:
                request = pb.ReportErasureRequest(
                    tenant_id=person.tenant_id,
                    pseudonym=person.pseudonym,
                    position=position,
                    is_done=is_done,
                    **counts,
                )
                await self._provider.ReportErasure(request, timeout=_CALL_SECONDS)

            await self._current().run(person, claimed.position, report)
