"""XML is parsed where it is bounded."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
XML_LIBRARY = re.compile(r"^\s*(?:from|import) (?:lxml|xml)\b", re.MULTILINE)


def test_only_the_bounded_readers_the_builder_of_models_and_screen_layouts_use_a_library_for_xml() -> None:
    modules = [path for package in ("server", "identity", "edge") for path in (ROOT / package).rglob("*.py")]

    users = {
        path.relative_to(ROOT).as_posix() for path in modules if XML_LIBRARY.search(path.read_text("utf-8"))
    }

    assert users == {
        "server/xml/bounds.py",
        "server/xml/document.py",
        "server/xml/parser.py",
        "server/bpmn/builder.py",
        "identity/authentication/screens/layout.py",
        "identity/crypto/xml/documents.py",
    }
