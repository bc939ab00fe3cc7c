"""Records of every kind that belong to an owner."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from server.platform.call import TenantId
from server.platform.records import Kind, Owner, Record

_PLAIN: Mapping[type, object] = {
    str: "x",
    int: 1,
    bool: False,
    bytes: b"x",
    datetime: datetime(2030, 1, 1, tzinfo=UTC),
    timedelta: timedelta(hours=1),
}


def owned(kind: Kind[Any], owner: Owner, owner_id: str, *, tenant_id: TenantId) -> Record:
    """Return a record of a kind that belongs to an owner, with arbitrary values otherwise."""
    text = owner.text(owner_id)
    record_id = text if owner.field == "id" else f"{kind.name} {owner.field} {text}"
    record = sample(kind.type, tenant_id=tenant_id, id=record_id, revision=0, expires_at=None)
    # Other unique texts must be free.
    texts = {field: record_id for field in kind.unique if field in get_type_hints(kind.type)}
    record = replace(record, **texts)
    return record if owner.field == "id" else _with(record, owner.field.split("."), text)


def sample(of: Any, **values: object) -> Any:
    """Return an object of a dataclass; fields that `values` lacks get their default, or an arbitrary value."""
    hints = get_type_hints(of)
    needed = {
        field.name: _value(hints[field.name])
        for field in fields(of)
        if field.init and field.default is MISSING and field.default_factory is MISSING
    }
    return of(**(needed | values))


def _with(record: Any, path: list[str], text: str) -> Any:
    first, *rest = path
    if not rest:
        return replace(record, **{first: text})
    inner = getattr(record, first) or _value(get_type_hints(type(record))[first])
    return replace(record, **{first: _with(inner, rest, text)})


def _value(hint: Any) -> object:
    hint = getattr(hint, "__supertype__", hint)
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _value(next(option for option in get_args(hint) if option is not NoneType))
    if origin is not None:
        return {} if issubclass(origin, Mapping) else (() if issubclass(origin, tuple) else frozenset())
    if is_dataclass(hint):
        return sample(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    return _PLAIN[hint]
