"""Decodes XML files in the encoding that they declare (XML 1.0 §4.3.3)."""

import codecs
import re

_ENCODING = re.compile(rb"<\?xml[^>]*\sencoding\s*=\s*[\"']([A-Za-z0-9._-]+)")


def xml_text(content: bytes) -> str:
    """Decode XML; invalid bytes become U+FFFD."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace")
    declared = _ENCODING.match(content)
    try:
        return content.decode(declared[1].decode() if declared else "utf-8", errors="replace")
    except LookupError:
        return content.decode(errors="replace")
