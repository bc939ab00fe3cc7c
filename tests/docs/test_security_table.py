"""docs/security.md: every rule that must hold names the tests that show it, or what is missing."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from tests.docs.markdown import ROOT

DOCUMENT = ROOT / "docs/security.md"

# To build one of these, name its tests and remove the line; a new line is a new gap.
NOT_BUILT: list[tuple[str, str, str]] = []

OAUTH = [f"B{number}" for number in range(1, 31)]
ASVS = [f"A{number}" for number in range(1, 29)]
BY_SPECIFICATION = [
    *("RFC 8628", "RFC 9449", "RFC 9207", "RFC 9126", "RFC 9101", "RFC 8707", "RFC 9396", "RFC 7591"),
    *(
        "RFC 8414",
        "RFC 7009",
        "RFC 7662",
        "RFC 7523",
        "RFC 9068",
        "RFC 8693",
        "RFC 9701",
        "RFC 8705",
        "FAPI 2.0",
    ),
    *(
        "JARM",
        "JWE",
        "CIBA",
        "RFC 8252",
        "OIDC Core",
        "OIDC pairwise subjects",
        "OIDC Dynamic Registration",
        "group administrators",
        "client ID metadata documents",
    ),
    *(
        "OIDC Session Management",
        "OIDC RP-initiated logout",
        "OIDC back-channel logout",
        "OIDC front-channel logout",
        "FedCM",
        "WebAuthn",
        "RFC 7644",
        "imports",
        "Standard Webhooks",
        "chat rooms and digests",
        "LDAP",
        "countries and networks",
        "terms of use",
        "SAML to applications",
        "SCIM applications",
        "impersonation",
    ),
]

_COLUMNS = 5
_NOT_BUILT = "not built yet: "
_TEST = re.compile(r"`(?P<path>tests/[\w/]+\.py)::(?P<name>test_\w+)`")


@dataclass(frozen=True)
class Row:
    id: str
    level: str
    how: str
    shown: tuple[str, ...]

    @property
    def tests(self) -> list[tuple[str, str]]:
        found = map(_TEST.fullmatch, self.shown)
        return [(match["path"], match["name"]) for match in found if match is not None]

    @property
    def gaps(self) -> list[str]:
        return [part.removeprefix(_NOT_BUILT) for part in self.shown if part.startswith(_NOT_BUILT)]


def rows() -> Iterator[Row]:
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "id":
            assert len(cells) == _COLUMNS, line
            number, level, _rule, how, shown = cells
            yield Row(number, level, how, tuple(shown.split("<br>")))


@cache
def functions_of(path: str) -> frozenset[str]:
    file = ROOT / path
    nodes = ast.walk(ast.parse(file.read_text())) if file.is_file() else ()
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.id} {row.level}")
def test_a_rule_names_tests_that_exist_or_what_is_not_built(row: Row) -> None:
    missing = [f"{path}::{name}" for path, name in row.tests if name not in functions_of(path)]

    assert missing == []
    assert row.shown
    assert len(row.tests) + len(row.gaps) == len(row.shown), f"neither a test nor a gap: {row.shown}"
    assert len(set(row.shown)) == len(row.shown)


def test_no_gap_is_added_silently() -> None:
    assert [(row.id, row.level, gap) for row in rows() for gap in row.gaps] == NOT_BUILT


def test_every_rule_of_the_checklist_has_its_row() -> None:
    assert list(dict.fromkeys(row.id for row in rows())) == [*OAUTH, *ASVS, *BY_SPECIFICATION]


def test_a_rule_has_one_row_of_a_level() -> None:
    levels = [(row.id, row.level) for row in rows()]

    assert len(set(levels)) == len(levels)
    assert {level for _, level in levels} == {"must", "should"}
    assert {row.id for row in rows() if row.level == "must"} >= set(BY_SPECIFICATION)
