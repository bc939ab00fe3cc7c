"""Detects changes of the OpenAPI document that break clients of a released one.

A request may require less and a response may contain more; all other changes are breaking.
"""

from collections.abc import Iterator

import msgspec

from edge.openapi.model import ANY, Document, Operation, Parameter, RequestBody, Response, Schema

_AT_LEAST = ("min_length", "minimum", "exclusive_minimum", "min_items", "min_properties")
_AT_MOST = ("max_length", "maximum", "exclusive_maximum", "max_items", "max_properties")
_EXACTLY = ("pattern", "format", "unique_items")


def breaking_changes(released: str, current: str) -> list[str]:
    """Return one line for each removed or narrowed part that a client may rely on."""
    comparison = _Comparison(_parsed(released), _parsed(current))
    return list(comparison.changes())


def _parsed(text: str) -> Document:
    return msgspec.json.decode(text, type=Document)


class _Comparison:
    """Two documents; `seen` holds the pairs of schemas whose comparison has begun."""

    def __init__(self, old: Document, new: Document) -> None:
        self._old = old
        self._new = new
        self._seen: set[tuple[str, str, str]] = set()

    def changes(self) -> Iterator[str]:
        for path, operations in self._old.paths.items():
            for verb, operation in operations.items():
                name = f"{verb.upper()} {path}"
                current = self._new.paths.get(path, {}).get(verb)
                if current is None:
                    yield f"{name}: removed"
                else:
                    yield from self._operation(name, operation, current)

    def _operation(self, name: str, old: Operation, new: Operation) -> Iterator[str]:
        yield from self._parameters(name, old, new)
        yield from self._body(f"{name} request", old.request_body, new.request_body)
        for status, response in old.responses.items():
            if status in new.responses:
                yield from self._response(f"{name} {status}", response, new.responses[status])
            else:
                yield f"{name} {status}: removed"

    def _parameters(self, name: str, old: Operation, new: Operation) -> Iterator[str]:
        before, after = _by_name(self._old, old), _by_name(self._new, new)
        for key in before.keys() - after.keys():
            yield f"{name} {key}: removed"
        for key, parameter in after.items():
            if parameter.required and not (key in before and before[key].required):
                yield f"{name} {key}: now required"
            if key in before:
                yield from self._request(f"{name} {key}", before[key].schema, parameter.schema)

    def _body(self, name: str, old: RequestBody, new: RequestBody) -> Iterator[str]:
        if new.required and not old.required:
            yield f"{name}: now required"
        for media_type, media in old.content.items():
            if media_type in new.content:
                yield from self._request(name, media.schema, new.content[media_type].schema)
            else:
                yield f"{name} {media_type}: removed"

    def _response(self, name: str, old: Response, new: Response) -> Iterator[str]:
        for media_type, media in old.content.items():
            if media_type in new.content:
                yield from self._answer(name, media.schema, new.content[media_type].schema)
            else:
                yield f"{name} {media_type}: removed"

    def _request(self, name: str, old: Schema, new: Schema) -> Iterator[str]:
        """Yield values that were accepted and no longer are."""
        if self._is_seen("request", old, new):
            return
        before, after = self._old.by_type(old), self._new.by_type(new)
        for kind, schema in before.items():
            current = after.get(kind) or after.get(ANY)
            if current is None:
                yield f"{name}: no longer takes {kind}"
            else:
                yield from _narrowed(name, schema, current)
                yield from self._request_members(name, schema, current)

    def _request_members(self, name: str, old: Schema, new: Schema) -> Iterator[str]:
        for member in new.required:
            if member not in old.required:
                yield f"{name}.{member}: now required"
        for member, schema in old.properties.items():
            if member in new.properties:
                yield from self._request(f"{name}.{member}", schema, new.properties[member])
            elif new.additional_properties is not True:
                yield f"{name}.{member}: removed"
        for inside, before, after in _contained(old, new):
            yield from self._request(f"{name}{inside}", before, after)

    def _answer(self, name: str, old: Schema, new: Schema) -> Iterator[str]:
        """Yield parts of responses that were promised and no longer are."""
        if self._is_seen("answer", old, new):
            return
        before, after = self._old.by_type(old), self._new.by_type(new)
        for kind, schema in after.items():
            promised = before.get(kind) or before.get(ANY)
            if promised is None:
                yield f"{name}: may now be {kind}"
            else:
                yield from self._answer_members(name, promised, schema)

    def _answer_members(self, name: str, old: Schema, new: Schema) -> Iterator[str]:
        for member, schema in old.properties.items():
            if member not in new.properties:
                yield f"{name}.{member}: removed"
                continue
            if member in old.required and member not in new.required:
                yield f"{name}.{member}: may now be absent"
            yield from self._answer(f"{name}.{member}", schema, new.properties[member])
        for inside, before, after in _contained(old, new):
            yield from self._answer(f"{name}{inside}", before, after)

    def _is_seen(self, direction: str, old: Schema, new: Schema) -> bool:
        """Whether this pair of named schemas was compared already."""
        pair = (direction, old.ref, new.ref)
        if pair in self._seen:
            return True
        if old.ref and new.ref:
            self._seen.add(pair)
        return False


def _by_name(document: Document, operation: Operation) -> dict[str, Parameter]:
    found = map(document.parameter, operation.parameters)
    return {f"{parameter.place} parameter {parameter.name}": parameter for parameter in found}


def _contained(old: Schema, new: Schema) -> Iterator[tuple[str, Schema, Schema]]:
    """Items of arrays and values of maps."""
    if old.items and new.items:
        yield "[]", old.items, new.items
    if isinstance(old.additional_properties, Schema) and isinstance(new.additional_properties, Schema):
        yield "{}", old.additional_properties, new.additional_properties


def _narrowed(name: str, old: Schema, new: Schema) -> Iterator[str]:
    for bound in _AT_LEAST:
        least = getattr(new, bound)
        if least is not None and least > (
            float("-inf") if (before := getattr(old, bound)) is None else before
        ):
            yield f"{name}: {bound} is now {least}"
    for bound in _AT_MOST:
        most = getattr(new, bound)
        if most is not None and most < (float("inf") if (before := getattr(old, bound)) is None else before):
            yield f"{name}: {bound} is now {most}"
    for bound in _EXACTLY:
        if getattr(new, bound) not in {None, getattr(old, bound)}:
            yield f"{name}: {bound} is now {getattr(new, bound)}"
    if new.enum is not None:
        gone = [value for value in old.enum or ["any other value"] if value not in new.enum]
        yield from (f"{name}: no longer takes {value}" for value in gone)
