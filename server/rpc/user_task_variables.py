"""Searches the variables that a user task sees: those of its element instance and of the enclosing scopes."""

from dataclasses import replace

from gnomon.engine.v1 import user_task_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.query import Condition, Operator, Page, Query, evaluate, parse
from server.platform.query.cursor import cursors
from server.platform.query.searchable import SORTED_CHARACTERS
from server.rpc.reads import Shown, bounded, response_of, search
from server.rpc.variable import shown_variables
from server.store.entities import ElementInstance, UserTask, Variable
from server.store.ports import Store
from server.store.searchables import VARIABLES


async def search_variables(
    store: Store, user_task: UserTask, request: pb.SearchUserTaskVariablesRequest, call: Call
) -> pb.SearchUserTaskVariablesResponse:
    """Search variables of all scopes, hidden ones included."""
    also = (_within(await _scopes(store, user_task)),)
    return await search(
        store,
        VARIABLES,
        request,
        pb.SearchUserTaskVariablesResponse,
        call,
        also=also,
        shown=shown_variables(request),
    )


async def search_effective_variables(
    store: Store, user_task: UserTask, request: pb.SearchUserTaskEffectiveVariablesRequest, call: Call
) -> pb.SearchUserTaskEffectiveVariablesResponse:
    """Search the innermost variable of each name.

    The values are read only for the page, because all of them may be large.
    """
    scopes = await _scopes(store, user_task)
    query = parse(VARIABLES, request, also=(_within(scopes),))
    everything = replace(VARIABLES.query(*query.clauses), cut={"value": SORTED_CHARACTERS})
    rows = (await store.search(Variable, everything, tenant_id=call.tenant_id)).items
    places = {key: place for place, key in enumerate(scopes)}
    innermost: dict[str, Variable] = {}
    for row in sorted(rows, key=lambda row: places[row.scope_key], reverse=True):
        innermost[row.name] = row
    page = evaluate(sorted(innermost.values(), key=lambda row: row.variable_key), query)
    shown = shown_variables(request)
    if page.items:
        page = await _whole(store, page, query, shown, call)
    return response_of(page, VARIABLES, pb.SearchUserTaskEffectiveVariablesResponse, call, shown=shown)


async def _whole(
    store: Store, page: Page[Variable], query: Query, shown: Shown[Variable] | None, call: Call
) -> Page[Variable]:
    """The same page with the values that it shows, as far as they fit."""
    keys = tuple(row.variable_key for row in page.items)
    window = replace(query.window, limit=len(keys), offset=0)
    named = Query((Condition(VARIABLES.key, Operator.IN, keys),), query.sort, window)
    wanted = replace(bounded(named), cut=shown.cut if shown else {})
    items = (await store.search(Variable, wanted, tenant_id=call.tenant_id)).items
    return Page(items, page.total, *cursors(query, items))


def _within(scopes: tuple[Key, ...]) -> Condition:
    return Condition(VARIABLES.fields["scope_key"], Operator.IN, scopes)


async def _scopes(store: Store, user_task: UserTask) -> tuple[Key, ...]:
    """Keys of the element instance and its enclosing scopes, innermost first."""
    keys = [user_task.element_instance_key]
    while keys[-1] != user_task.process_instance_key:
        element = await store.get(ElementInstance, keys[-1], tenant_id=user_task.tenant_id)
        keys.append(user_task.process_instance_key if element is None else element.element_instance_scope_key)
    return tuple(keys)
