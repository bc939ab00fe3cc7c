"""XML as plain elements, read from bytes that are hostile until they are read.

    document = parse(xml)
    document.markup({"urn:orders": ""}).first("order")

A document type (and with it every entity) is refused before the first element, nothing is fetched; size, depth and
number of elements are bounded. Errors: `XmlError`, which each language of XML words as its own.
"""

from server.xml.document import MAX_DEPTH, MAX_ELEMENTS, Document
from server.xml.errors import XmlError
from server.xml.markup import Markup
from server.xml.parser import MAX_BYTES, parse

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_ELEMENTS", "Document", "Markup", "XmlError", "parse"]
