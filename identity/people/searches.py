"""Searches of administrators for users, using only indexes."""

from dataclasses import dataclass

from identity.directory.user import User
from identity.foundation.searches import begun
from server.platform.query import (
    Clause,
    Condition,
    Field,
    FieldType,
    Operator,
    Query,
    Searchable,
    SortKey,
    Window,
)
from server.platform.query.cursor import position_of

_USERNAME = Field("username", FieldType.TEXT)
_GROUPS = Field("groups", FieldType.TEXTS)
_ROLES = Field("roles", FieldType.TEXTS)

SEARCHABLE_USER = Searchable(
    User,
    key=_USERNAME,
    fields={
        "username": _USERNAME,
        "name": Field("name", FieldType.TEXT),
        "email": Field("email", FieldType.TEXT),
    },
    derived={},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSearch:
    """Users that meet all conditions, in the order of `sort`; empty means the order of usernames.

    Each word of `text` begins one of the user's words.
    """

    text: str = ""
    group: str = ""
    role: str = ""
    sort: str = ""
    is_descending: bool = False

    @property
    def is_everybody(self) -> bool:
        return self == UserSearch()

    def query(self, *, token: str, most: int) -> Query:
        """Return the query of the page behind a continuation token; raises InvalidArgument."""
        key = SortKey(SEARCHABLE_USER.fields[self.sort or "username"], self.is_descending)
        whole = SEARCHABLE_USER.query(*self._clauses(), sort=(key,))
        after = position_of(token, whole.clauses, whole.sort) if token else None
        return Query(whole.clauses, whole.sort, Window(limit=most, after=after))

    def _clauses(self) -> list[Clause]:
        labels = ((_GROUPS, self.group), (_ROLES, self.role))
        return [
            *begun(self.text),
            *(Condition(field, Operator.EQ, name) for field, name in labels if name),
        ]
