"""Finds the descendants of an element instance that have or had incidents."""

from server.engine.keys import Key
from server.platform.query import Condition, Operator, equals
from server.store.entities import ElementInstance
from server.store.ports import Store
from server.store.searchables import ELEMENT_INSTANCES, INCIDENTS
from server.store.statistics import ELEMENTS_WITH_INCIDENTS


async def elements_with_incidents(store: Store, around: ElementInstance) -> tuple[Key, ...]:
    """Keys of the element instances inside this one, at any depth, that have or had incidents, and its own key.

    The search goes from all element instances with incidents in the process instance up through their scopes,
    level by level: one statement for each level, over a bounded number of rows.
    """
    tenant_id = around.tenant_id
    clauses = (equals(INCIDENTS, "process_instance_key", around.process_instance_key),)
    found = await store.statistics(ELEMENTS_WITH_INCIDENTS, clauses, tenant_id=tenant_id)
    places = {each.element_instance_key: each.element_instance_key for each in found}
    inside = {around.element_instance_key}
    while places:
        inside.update(key for key, scope_key in places.items() if scope_key == around.element_instance_key)
        scopes = await _scopes_of(store, frozenset(places.values()), tenant_id)
        places = {key: scopes[scope_key] for key, scope_key in places.items() if scope_key in scopes}
    return tuple(sorted(inside))


async def _scopes_of(store: Store, keys: frozenset[Key], tenant_id: str) -> dict[Key, Key]:
    """The scope of each of these element instances; process instances have none."""
    is_one = Condition(ELEMENT_INSTANCES.key, Operator.IN, tuple(sorted(keys)))
    page = await store.search(ElementInstance, ELEMENT_INSTANCES.query(is_one), tenant_id=tenant_id)
    return {row.element_instance_key: row.element_instance_scope_key for row in page.items}
