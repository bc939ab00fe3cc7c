"""For every rule about forms a form that breaks it and its mended twin."""

import json
from collections.abc import Mapping

from server.lint.rules.forms import MAX_ID_LENGTH
from tests.server.lint.rule_cases import Case


def _form(**members: object) -> bytes:
    return json.dumps({"id": "f", "type": "default", "components": [], **members}).encode()


def _component(**members: object) -> bytes:
    return _form(components=[{"type": "textfield", "id": "c", **members}])


def _keys(*keys: str) -> bytes:
    fields = [{"type": "textfield", "id": f"c{number}", "key": key} for number, key in enumerate(keys)]
    return _form(components=fields)


CASES: Mapping[str, Case] = {
    "form-readable": Case(b'["f"]', _form(), ""),
    "form-id": Case(_form(id=" "), _form(), ""),
    "form-id-length": Case(
        _form(id="=" + "i" * MAX_ID_LENGTH), _form(id="i" * MAX_ID_LENGTH), "=" + "i" * MAX_ID_LENGTH
    ),
    "form-type": Case(_form(type="other"), _form(type="default"), "f"),
    "form-schema-version": Case(_form(schemaVersion=20), _form(schemaVersion=19), "f"),
    "form-component-key": Case(_keys("a", "a"), _keys("a", "b"), "c1"),
    "form-component-type": Case(_component(type="carousel"), _component(), "c"),
    "form-expression": Case(_component(conditional={"hide": "=1 +"}), _component(label="=1 + 1"), "c"),
}
