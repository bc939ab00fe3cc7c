"""Reads deployed forms."""

from gnomon.engine.v1 import form_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.mapping import mapper
from server.platform.query import Window, equals
from server.store.entities import Form, ProcessDefinition
from server.store.ports import Store
from server.store.searchables import FORMS

form_message = mapper(Form, pb.Form)


async def form_with(store: Store, form_key: Key | None, call: Call) -> Form | None:
    """The form with this key, deleted forms included."""
    return None if form_key is None else await store.get(Form, form_key, tenant_id=call.tenant_id)


async def start_form_of(store: Store, definition: ProcessDefinition, call: Call) -> Form | None:
    """The latest version of the form that is linked to the start event."""
    if definition.start_form_id is None:
        return None
    linked = equals(FORMS, "form_id", definition.start_form_id)
    query = FORMS.query(linked, equals(FORMS, "is_latest_version", True), window=Window(limit=1))
    page = await store.search(Form, query, tenant_id=call.tenant_id)
    return page.items[0] if page.items else None
