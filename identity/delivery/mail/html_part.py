"""HTML part of a mail: the paragraphs of its text below the name and the mark of the tenant.

It says what the text part says. It loads nothing, so that no server learns who reads the mail, and every text in it is
escaped. The mark is the first letter of the name: mail programs show no SVG, and block images that they have to load.
"""

from collections.abc import Iterator
from html import escape

from identity.delivery.mail.letter import Letter
from identity.foundation.tenants import Tenant
from server.platform.languages import Language, marked

_FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif"
_BUTTON = (
    "display:inline-block;padding:12px 20px;border-radius:8px;background-color:#0b57d0;color:#ffffff;"
    "font-weight:600;text-decoration:none"
)
_MARK = (
    "width:32px;height:32px;border-radius:7px;background-color:#0b57d0;color:#ffffff;"
    "font-weight:700;font-size:18px;text-align:center"
)
# Programs with a dark theme adapt the colors that they understand.
_PAGE = """<!doctype html>
<html lang="{lang}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{subject}</title>
</head>
<body style="margin:0;padding:24px 12px;{font};font-size:16px;line-height:1.5">
<div style="max-width:34em;margin:0 auto">
<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr>
<td aria-hidden="true" style="{mark_style}">{mark}</td>
<td style="padding:0 12px;font-weight:600">{name}</td>
</tr></table>
<h1 style="font-size:22px;line-height:1.3;margin:24px 0 16px">{subject}</h1>
{paragraphs}
</div>
</body>
</html>
"""


def html_part(letter: Letter, tenant: Tenant, language: Language) -> str:
    name = tenant.shown_name
    return _PAGE.format(
        lang=language.tag,
        direction=language.direction,
        subject=escape(letter.subject),
        font=_FONT,
        mark_style=_MARK,
        mark=escape(name[:1].upper()),
        name=escape(name),
        paragraphs="\n".join(_paragraphs(letter, tenant, language)),
    )


def _paragraphs(letter: Letter, tenant: Tenant, language: Language) -> Iterator[str]:
    """A paragraph with an address of the tenant becomes a button, with the address below it."""
    for paragraph in letter.text.strip().split("\n\n"):
        text = escape(paragraph)
        if paragraph.startswith(f"{tenant.origin}/") and len(paragraph.split()) == 1:
            words = escape(language.translated(marked("Open the link")))
            yield f'<p style="margin:20px 0 8px"><a href="{text}" style="{_BUTTON}">{words}</a></p>'
            yield f'<p style="margin:0 0 20px;font-size:13px;word-break:break-all">{text}</p>'
        else:
            yield f'<p style="margin:0 0 16px">{text}</p>'
