"""Searches the variables that a user task sees: those of its element instance and of the enclosing scopes."""

from gnomon.engine.v1 import user_task_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.query import Condition, Operator, evaluate, parse
from server.rpc.reads import response_of, search
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
    """Search the innermost variable of each name."""
    scopes = await _scopes(store, user_task)
    query = parse(VARIABLES, request, also=(_within(scopes),))
    everything = VARIABLES.query(*query.clauses)
    rows = (await store.search(Variable, everything, tenant_id=call.tenant_id)).items
    places = {key: place for place, key in enumerate(scopes)}
    innermost: dict[str, Variable] = {}
    for row in sorted(rows, key=lambda row: places[row.scope_key], reverse=True):
        innermost[row.name] = row
    page = evaluate(sorted(innermost.values(), key=lambda row: row.variable_key), query)
    return response_of(
        page,
        VARIABLES,
        pb.SearchUserTaskEffectiveVariablesResponse,
        call,
        shown=shown_variables(request),
    )


def _within(scopes: tuple[Key, ...]) -> Condition:
    return Condition(VARIABLES.fields["scope_key"], Operator.IN, scopes)


async def _scopes(store: Store, user_task: UserTask) -> tuple[Key, ...]:
    """Keys of the element instance and its enclosing scopes, innermost first."""
    keys = [user_task.element_instance_key]
    while keys[-1] != user_task.process_instance_key:
        element = await store.get(ElementInstance, keys[-1], tenant_id=user_task.tenant_id)
        keys.append(user_task.process_instance_key if element is None else element.element_instance_scope_key)
    return tuple(keys)
