"""What groups and roles have in common."""

from typing import Literal, Protocol, TypeVar

from identity.directory.labels import DescribedLabel
from server.platform.query import Field, FieldType, Searchable

L = TypeVar("L", bound=DescribedLabel)

_ID = Field("name", FieldType.TEXT)


class Described(Protocol):
    """A request with an optional description."""

    @property
    def description(self) -> str: ...

    def HasField(self, name: Literal["description"], /) -> bool: ...  # noqa: N802  # the name of protobuf


def searchable(kind: type[L], id_field: str) -> Searchable[L]:
    """Return the field table of a label; `id_field` is the name of its id in the contract."""
    fields = {id_field: _ID, "name": Field("shown_name", FieldType.TEXT)}
    return Searchable(kind, key=_ID, fields=fields, derived={})


def description_of(request: Described) -> str | None:
    return request.description if request.HasField("description") else None
