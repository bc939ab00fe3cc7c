"""Changes and reads the global task listeners of the caller's tenant."""

from gnomon.engine.v1 import global_task_listener_pb2 as entity_pb
from gnomon.engine.v1 import global_task_listener_service_pb2 as pb
from server.engine.global_task_listener_commands import (
    CreateGlobalTaskListener,
    DeleteGlobalTaskListener,
    UpdateGlobalTaskListener,
)
from server.partition.router import Router
from server.platform.call import Call
from server.platform.errors import NotFound
from server.platform.mapping import mapper
from server.platform.query import equals
from server.rpc.origin import origin_of
from server.rpc.reads import search
from server.store.entities import GlobalTaskListener
from server.store.ports import Store
from server.store.searchables import GLOBAL_TASK_LISTENERS

DEFAULT_RETRIES = 3
DEFAULT_PRIORITY = 50

_listener = mapper(GlobalTaskListener, entity_pb.GlobalTaskListener)

_Change = CreateGlobalTaskListener | UpdateGlobalTaskListener


class GlobalTaskListenerServicer:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    async def create_global_task_listener(
        self, request: pb.CreateGlobalTaskListenerRequest, call: Call
    ) -> pb.CreateGlobalTaskListenerResponse:
        command = _change(CreateGlobalTaskListener, request, call)
        await self._router.submit(command, origin_of(request, call))
        return pb.CreateGlobalTaskListenerResponse(listener=_changed(command))

    async def get_global_task_listener(
        self, request: pb.GetGlobalTaskListenerRequest, call: Call
    ) -> pb.GetGlobalTaskListenerResponse:
        query = GLOBAL_TASK_LISTENERS.query(equals(GLOBAL_TASK_LISTENERS, "id", request.id))
        page = await self._store.search(GlobalTaskListener, query, tenant_id=call.tenant_id)
        if not page.items:
            raise NotFound(f"there is no global task listener '{request.id}'")
        return pb.GetGlobalTaskListenerResponse(listener=_listener(page.items[0]))

    async def update_global_task_listener(
        self, request: pb.UpdateGlobalTaskListenerRequest, call: Call
    ) -> pb.UpdateGlobalTaskListenerResponse:
        command = _change(UpdateGlobalTaskListener, request, call)
        await self._router.submit(command, origin_of(request, call))
        return pb.UpdateGlobalTaskListenerResponse(listener=_changed(command))

    async def delete_global_task_listener(
        self, request: pb.DeleteGlobalTaskListenerRequest, call: Call
    ) -> pb.DeleteGlobalTaskListenerResponse:
        command = DeleteGlobalTaskListener(call.tenant_id, request.id)
        await self._router.submit(command, origin_of(request, call))
        return pb.DeleteGlobalTaskListenerResponse()

    async def search_global_task_listeners(
        self, request: pb.SearchGlobalTaskListenersRequest, call: Call
    ) -> pb.SearchGlobalTaskListenersResponse:
        return await search(
            self._store, GLOBAL_TASK_LISTENERS, request, pb.SearchGlobalTaskListenersResponse, call
        )


def _change(
    kind: type[_Change],
    request: pb.CreateGlobalTaskListenerRequest | pb.UpdateGlobalTaskListenerRequest,
    call: Call,
) -> _Change:
    return kind(
        call.tenant_id,
        request.id,
        request.type,
        tuple(request.event_types),
        request.retries if request.HasField("retries") else DEFAULT_RETRIES,
        request.after_non_global,
        request.priority if request.HasField("priority") else DEFAULT_PRIORITY,
    )


def _changed(command: _Change) -> entity_pb.GlobalTaskListener:
    return entity_pb.GlobalTaskListener(
        id=command.id,
        type=command.type,
        retries=command.retries,
        after_non_global=command.after_non_global,
        priority=command.priority,
        event_types=command.event_types,
        source=entity_pb.GLOBAL_LISTENER_SOURCE_API,
    )
