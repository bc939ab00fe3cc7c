"""Functions on contexts; they return new contexts and never change their arguments."""

from server.feel.errors import InvocationError
from server.feel.run import Run
from server.feel.signatures import Family, Spread
from server.feel.text import shown
from server.feel.values import Context, Value


def get_value(m: Context, key: str) -> Value:
    return m.get(key)


def get_value_by_path(m: Context, keys: list[Value]) -> Value:
    value: Value = m
    for key in keys:
        if not isinstance(value, dict) or not isinstance(key, str):
            return None
        value = value.get(key)
    return value if keys else None


def get_entries(m: Context) -> list[Value]:
    return [{"key": key, "value": value} for key, value in m.items()]


def context_put(context: Context, key: str, value: Value) -> Context:
    return {**context, key: value}


def context_put_by_path(run: Run, context: Context, keys: list[Value], value: Value) -> Context:
    """Set a value by path, creating missing contexts on the way.

    Whether other values on the path are overwritten depends on the dialect.
    """
    path = [key for key in keys if isinstance(key, str)]
    if not path or len(path) < len(keys):
        raise InvocationError(f"expected a list of keys but found '{shown(keys)}'")
    result = inner = dict(context)
    for key in path[:-1]:
        found = inner.get(key)
        if found is not None and not isinstance(found, dict) and not run.dialect.overwrites_entries:
            raise InvocationError(f"'{key}' is not a context")
        around, inner = inner, dict(found) if isinstance(found, dict) else {}
        around[key] = inner
    inner[path[-1]] = value
    return result


def context_put_by_key(run: Run, context: Context, key: list[Value], value: Value) -> Context:
    """Set a value by path, for calls that use the parameter name `key`."""
    return context_put_by_path(run, context, key, value)


def context_merge(run: Run, contexts: Spread) -> Context:
    result: Context = {}
    for context in contexts:
        if not isinstance(context, dict):
            raise InvocationError(f"expected a context but found '{shown(context)}'")
        run.charge(len(context))
        result.update(context)
    return result


def context_of(run: Run, entries: list[Value]) -> Context:
    """Create a context from entries; of equal keys the last one wins, or they are refused, depending on the dialect."""
    result = dict(map(_entry, entries))
    if len(result) < len(entries) and not run.dialect.overwrites_entries:
        raise InvocationError("several entries have the same key")
    return result


def _entry(entry: Value) -> tuple[str, Value]:
    if not isinstance(entry, dict) or "value" not in entry or not isinstance(key := entry.get("key"), str):
        raise InvocationError(f"expected an entry with 'key' and 'value' but found '{shown(entry)}'")
    return key, entry["value"]


FUNCTIONS: Family = {
    "get value": (get_value, get_value_by_path),
    "get entries": get_entries,
    "context put": (context_put, context_put_by_path),
    "put": (context_put, context_put_by_path),
    "context merge": context_merge,
    "put all": context_merge,
    "context": context_of,
}
CAMUNDA_FUNCTIONS: Family = {"context put": context_put_by_key, "put": context_put_by_key}
