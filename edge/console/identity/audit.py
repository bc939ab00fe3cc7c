"""The audit log of the tenant, latest entries first."""

from typing import Any, Final

from aiohttp import web

from edge.console.identity.pages import kinds_of
from edge.console.visit import REFUSED, Visit

_LIMIT: Final = 100
_RESULTS: Final = ("SUCCESS", "FAIL")
# Fields of the filter by their names on the page.
_FIELDS: Final = {
    "actor": "actorId",
    "of": "entityType",
    "key": "entityKey",
    "instance": "processInstanceKey",
}


async def audit(visit: Visit) -> web.Response:
    """The entries that match the filter; none where the mode keeps no audit log, or the user may not read it."""
    asked = {name: visit.query.get(name, "").strip() for name in (*_FIELDS, "result")}
    wanted: dict[str, Any] = {field: asked[name] for name, field in _FIELDS.items() if asked[name]}
    if asked["result"] in _RESULTS:
        wanted["result"] = asked["result"]
    search = {
        "filter": wanted,
        "sort": [{"field": "timestamp", "order": "DESC"}],
        "page": visit.page_of(_LIMIT),
    }
    found, problem, has_more = None, None, False
    try:
        found = await visit.optional(visit.api.page("SearchAuditLogs", search))
        has_more = found is not None and await visit.has_more("SearchAuditLogs", search, found)
    except REFUSED as error:
        problem = error
    facts = {
        "found": found,
        "asked": asked,
        "results": _RESULTS,
        "kind": None,
        "kinds": kinds_of(visit),
        "has_more": has_more,
    }
    return visit.form_page("audit.html", "identity", problem, facts)
