"""Documents that update a page while it is shown: counts of tokens, the path taken, and the model of the diagram.

The small document of a page is a stream of server-sent events for a script that asks for one. Other requests get an
entity tag that changes with its content, so a request without news transfers no content.
"""

import hashlib

import orjson
from aiohttp import hdrs, web

from edge.conditional import is_named
from edge.console.api import Document
from edge.console.live_streams import MEDIA_TYPE, Live, Place, Read
from edge.console.visit import Visit
from edge.download import UNTRUSTED, attachment

# RFC 9111 §5.2.2.4: stored by the browser, and revalidated before each use.
_KEPT = "private, no-cache"
_ETAG_LENGTH = 32


async def live_process(visit: Visit) -> web.StreamResponse:
    return await live(visit, lambda: process_state(visit, visit.key))


async def live_instance(visit: Visit) -> web.StreamResponse:
    async def read() -> Live:
        shown = await visit.api("GetProcessInstance", process_instance_key=visit.key)
        return await instance_state(visit, shown)

    return await live(visit, read)


async def live(visit: Visit, read: Read) -> web.StreamResponse:
    """Return the document as a stream where the browser asks for events, else as it is now."""
    if MEDIA_TYPE in visit.request.headers.get(hdrs.ACCEPT, ""):
        place = Place(visit.tenant, visit.request.path)
        return await visit.streams.serve(visit.request, place, read, visit.api.await_change)
    return conditional(visit, await read())


async def process_state(visit: Visit, key: str) -> Live:
    """Return the counts of each element of a process definition."""
    counted = await visit.api("GetProcessDefinitionStatistics", {}, process_definition_key=key)
    return {"elements": counted["items"], "flows": [], "isFinal": False}


async def instance_state(visit: Visit, instance: Document) -> Live:
    """Return the counts of each element of an instance, the sequence flows that it took, and whether it ended."""
    key = instance["processInstanceKey"]
    counted, flows = await visit.together(
        visit.api("GetProcessInstanceStatistics", process_instance_key=key),
        visit.api("GetProcessInstanceSequenceFlows", process_instance_key=key),
    )
    return {
        "elements": counted["items"],
        "flows": [flow["elementId"] for flow in flows["items"]],
        "state": instance["state"],
        "hasIncident": instance["hasIncident"],
        "isFinal": instance["state"] != "ACTIVE",
    }


async def model(visit: Visit) -> web.Response:
    """The BPMN file of a process definition, which never changes; browsers save it and never display it."""
    key = visit.key
    etag = _etag(key.encode())
    definition = await visit.api("GetProcessDefinition", process_definition_key=key)
    if is_named(etag, visit.request.headers.getall(hdrs.IF_NONE_MATCH, ())):
        return _unchanged(etag)
    text = await visit.api("GetProcessDefinitionXml", process_definition_key=key)
    response = saved(text, definition["resourceName"].rpartition("/")[2])
    response.headers[hdrs.CACHE_CONTROL] = _KEPT
    response.headers[hdrs.ETAG] = f'"{etag}"'
    return response


def saved(text: str, file_name: str) -> web.Response:
    """Return a model as a file to save, in a sandbox in case a browser displays it."""
    headers = {
        **{str(name): value for name, value in UNTRUSTED},
        hdrs.CONTENT_DISPOSITION: attachment(file_name),
    }
    return web.Response(text=text, content_type="application/xml", headers=headers)


def conditional(visit: Visit, state: Live) -> web.Response:
    """Return the document of a page with its entity tag, or 304 when the browser has it."""
    body = orjson.dumps(state)
    etag = _etag(body)
    if is_named(etag, visit.request.headers.getall(hdrs.IF_NONE_MATCH, ())):
        return _unchanged(etag)
    headers = {hdrs.CACHE_CONTROL: _KEPT, hdrs.ETAG: f'"{etag}"'}
    return web.Response(body=body, content_type="application/json", headers=headers)


def _unchanged(etag: str) -> web.Response:
    return web.Response(status=304, headers={hdrs.CACHE_CONTROL: _KEPT, hdrs.ETAG: f'"{etag}"'})


def _etag(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_ETAG_LENGTH]
