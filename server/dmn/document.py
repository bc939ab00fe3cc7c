"""A DMN file as plain elements, in its own DMN namespace and Zeebe's extension namespace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from server.dmn.errors import DmnReadError
from server.xml import Document as XmlDocument
from server.xml import Markup, XmlError
from server.xml import parse as parse_xml

NAMESPACES: Final[Mapping[str, str]] = {
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd": "1.1",
    "http://www.omg.org/spec/DMN/20151101/dmn11.xsd": "1.1",  # from a draft, still written by older modelers
    "http://www.omg.org/spec/DMN/20180521/MODEL/": "1.2",
    "https://www.omg.org/spec/DMN/20191111/MODEL/": "1.3",
    "https://www.omg.org/spec/DMN/20211108/MODEL/": "1.4",
    "https://www.omg.org/spec/DMN/20230324/MODEL/": "1.5",
    "https://www.omg.org/spec/DMN/20240513/MODEL/": "1.6",
}


ZEEBE: Final = "http://camunda.org/schema/zeebe/1.0"


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document; `version` is the DMN version, `prefixes` are the root's namespace declarations."""

    root: Markup
    version: str
    prefixes: Mapping[str, str]


def parse(xml: bytes) -> Document:
    """Parse one file; raises `DmnReadError`."""
    try:
        return _document(parse_xml(xml))
    except XmlError as error:
        raise DmnReadError(error.message, error.line) from error


def _document(document: XmlDocument) -> Document:
    version = NAMESPACES.get(document.namespace)
    if version is None or document.name != "definitions":
        raise DmnReadError(f"expected DMN 1.1-1.6 definitions as root, found {document.tag}", document.line)
    return Document(document.markup({document.namespace: "", ZEEBE: "zeebe:"}), version, document.prefixes)
