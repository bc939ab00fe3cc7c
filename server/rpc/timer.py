"""Servicer for the timers of process instances, and for firing timers of test runs early, in embedded mode."""

import logging
from heapq import nsmallest
from typing import Final

from gnomon.engine.v1 import timer_service_pb2 as pb
from server.engine import State
from server.engine.documents import unpack
from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind
from server.engine.process_instance import ProcessInstance as LiveInstance
from server.engine.subscriptions import TimerSubscription
from server.engine.test_runs import TAG
from server.engine.timer_commands import FireTimer
from server.partition.router import Router
from server.platform.call import Call
from server.rpc.origin import origin_of
from server.rpc.reads import found
from server.store.entities import ProcessInstance
from server.store.ports import Ledger, Store

logger = logging.getLogger(__name__)

MOST_TIMERS: Final = 100


class TimerServicer:
    """Servicer for timers; `state` and `ledger` belong to the only partition."""

    def __init__(self, store: Store, router: Router, state: State, ledger: Ledger) -> None:
        self._store = store
        self._router = router
        self._state = state
        self._ledger = ledger

    async def list_timers(self, request: pb.ListTimersRequest, call: Call) -> pb.ListTimersResponse:
        row = await found(self._store, ProcessInstance, Key(request.process_instance_key), call)
        response = pb.ListTimersResponse(is_test_run=await self._is_test_run(row, call))
        instance = await self._live(row.process_instance_key)
        if instance is None:
            return response
        waiting = [each for each in instance.subscriptions.values() if isinstance(each, TimerSubscription)]
        response.total_timers = len(waiting)
        definition = self._state.definition_of(instance)
        for timer in nsmallest(MOST_TIMERS, waiting, key=lambda each: (each.due, each.key)):
            added = response.timers.add(
                timer_key=timer.key,
                element_id=timer.element_id,
                element_name=definition.element(timer.element_id).name,
                element_instance_key=timer.element_instance_key,
                repetitions=timer.repetitions,
            )
            added.due_date.FromDatetime(timer.due)
        return response

    async def _live(self, key: Key) -> LiveInstance | None:
        """Return the running process instance, even if it is evicted from memory."""
        if key not in self._state.evicted:
            return self._state.instances.get(key)
        document = DocumentId(Kind.PROCESS_INSTANCE, key)
        pages = (await self._ledger.documents([document])).get(document)
        return None if pages is None else unpack(pages)

    async def _is_test_run(self, row: ProcessInstance, call: Call) -> bool:
        root_key = row.root_process_instance_key
        if root_key is None or root_key == row.process_instance_key:
            return TAG in row.tags
        root = await self._store.get(ProcessInstance, root_key, tenant_id=call.tenant_id)
        return root is not None and TAG in root.tags

    async def fire_timer(self, request: pb.FireTimerRequest, call: Call) -> pb.FireTimerResponse:
        command = FireTimer(call.tenant_id, Key(request.process_instance_key), Key(request.timer_key))
        await self._router.submit(command, origin_of(request, call))
        # Embedded mode has no audit log.
        logger.info(
            "a timer of a test run fired early",
            extra={
                "process_instance_key": command.process_instance_key,
                "timer_key": command.timer_key,
                "subject": call.principal.subject,
            },
        )
        return pb.FireTimerResponse()
