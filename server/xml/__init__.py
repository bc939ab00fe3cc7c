"""XML as plain elements, parsed safely from untrusted bytes.

    document = parse(xml)
    document.markup({"urn:orders": ""}).first("order")

A document type, and with it every entity, is refused before the first element. Nothing is fetched, and all
quantities are limited, see `bounds`. Errors are `XmlError`, which each XML language converts to its own
error.
"""

from server.xml.bounds import (
    MAX_ALL_ATTRIBUTES,
    MAX_ATTRIBUTES,
    MAX_COMMENTS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_INSTRUCTIONS,
    MAX_NAME_LENGTH,
    MAX_NAMESPACES,
    MAX_VALUE_LENGTH,
)
from server.xml.document import Document
from server.xml.errors import XmlError
from server.xml.markup import Markup
from server.xml.parser import MAX_BYTES, parse

__all__ = [
    "MAX_ALL_ATTRIBUTES",
    "MAX_ATTRIBUTES",
    "MAX_BYTES",
    "MAX_COMMENTS",
    "MAX_DEPTH",
    "MAX_ELEMENTS",
    "MAX_INSTRUCTIONS",
    "MAX_NAMESPACES",
    "MAX_NAME_LENGTH",
    "MAX_VALUE_LENGTH",
    "Document",
    "Markup",
    "XmlError",
    "parse",
]
