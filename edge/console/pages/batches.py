"""Batch operations: their list, and the progress of one, which can be suspended, resumed and canceled."""

from typing import Final

from aiohttp import web

from edge.console.api import Document
from edge.console.live_streams import Live
from edge.console.pages.live import live
from edge.console.site import Form
from edge.console.visit import Visit
from server.platform.errors import InvalidArgument

_LIMIT: Final = 50
_FAILED: Final = 100
_ENDED: Final = frozenset({"COMPLETED", "PARTIALLY_COMPLETED", "CANCELED", "FAILED"})
# Operation of the API, and the report of the page that follows.
_CHANGES: Final = {
    "suspend": ("SuspendBatchOperation", "suspended"),
    "resume": ("ResumeBatchOperation", "resumed"),
    "cancel": ("CancelBatchOperation", "stopped"),
}


async def batches(visit: Visit) -> web.Response:
    wanted = {"sort": [{"field": "startDate", "order": "DESC"}], "page": visit.page_of(_LIMIT)}
    found = await visit.api("SearchBatchOperations", wanted)
    return visit.page("batches.html", "instances", found=found)


async def batch(visit: Visit) -> web.Response:
    failed = {
        "filter": {"batchOperationKey": visit.key, "state": "FAILED"},
        "page": {"limit": _FAILED},
    }
    shown, items = await visit.together(_get(visit), visit.api("SearchBatchOperationItems", failed))
    return visit.page(
        "batch.html",
        "instances",
        batch=shown,
        failed=items,
        state=_state(shown),
        ended=shown["state"] in _ENDED,
    )


async def live_batch(visit: Visit) -> web.StreamResponse:
    async def read() -> Live:
        return _state(await _get(visit))

    return await live(visit, read)


async def change_batch(visit: Visit, form: Form) -> web.Response:
    change = _CHANGES.get(form.get("change", ""))
    if change is None:
        raise InvalidArgument(f"expected one of {', '.join(_CHANGES)}")
    operation, done = change
    await visit.api(operation, {}, batch_operation_key=visit.key)
    return visit.sent_to("batches", visit.key, done=done)


async def _get(visit: Visit) -> Document:
    return await visit.api("GetBatchOperation", batch_operation_key=visit.key)


def _state(shown: Document) -> Live:
    names = ("state", "operationsTotalCount", "operationsCompletedCount", "operationsFailedCount")
    return {**{name: shown[name] for name in names}, "isFinal": shown["state"] in _ENDED}
