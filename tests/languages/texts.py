"""Texts for people in the source: those that are marked, and those that nothing marks."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes

from server.platform.languages.languages import FOLDER

ROOT = Path(__file__).parents[2]
EXTRACTION = ROOT / "server/platform/languages/extraction.cfg"
KEYWORDS = {
    **dict.fromkeys(("_", "gettext", "marked", "translated")),
    **dict.fromkeys(("ngettext", "translated_plural"), (1, 2)),
}
SKIPPED = {".venv", "tests", "docs", "gen", "node_modules"}

# Names, and values of attributes: they are the same in each language.
NAMES = frozenset({"Gnomon", "· Gnomon", "light dark", "(UTC)", "Camunda Cloud"})
SHOWN_ATTRIBUTES = frozenset({"alt", "aria-label", "placeholder", "title", "data-done"})
SCRIPT_TEXT = re.compile(r'"[^"\n]*"|`[^`]*`')
VALUE = re.compile(r"\$\{[^}]*\}")
MARKUP = re.compile(r"<\w+")
LINE_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
BEFORE_ARGUMENT = re.compile(r"\b_\(\s*$")
WORD = re.compile(r"[A-Za-z]{2}")
# A text with several words that begins like a sentence, or ends like one.
LABEL = re.compile(r"[A-Z][a-z]+|[a-z]+ [a-z]+")
SENTENCE = re.compile(r"[A-Z“].*[a-z]+ .*[a-z]|[A-Za-z ]+ …|.* .*[a-z]\.", re.DOTALL)


@cache
def marked_texts() -> frozenset[str | tuple[str, ...]]:
    """Return what the extraction finds; a text with a plural is a pair."""
    with EXTRACTION.open() as file:
        methods, options = parse_mapping_cfg(file)
    found = extract_from_dir(
        ROOT,
        method_map=methods,
        options_map=options,
        keywords=KEYWORDS,
        directory_filter=lambda folder: Path(folder).name not in SKIPPED,
    )
    return frozenset(text for _, _, text, _, _ in found)


def catalogues() -> list[Path]:
    return sorted(FOLDER.glob("*.po"))


@cache
def catalogue_of(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.stem.replace("-", "_"))


def unmarked_in_template(path: Path) -> list[str]:
    """Return visible texts that no `_()` and no `trans` has."""
    parsed = Environment(extensions=["jinja2.ext.i18n"]).parse(path.read_text())  # noqa: S701  # nothing is rendered
    visible = _VisibleTexts()
    # An expression counts as one letter.
    visible.feed("x".join(data.data for data in parsed.find_all(nodes.TemplateData)))
    return [text for text in (*visible.found, *_shown_constants(parsed)) if text not in NAMES]


def unmarked_in_script(path: Path) -> list[str]:
    """Return string literals like sentences that are no argument of `_()`."""
    source = LINE_COMMENT.sub("", path.read_text())
    return [
        found.group()
        for found in SCRIPT_TEXT.finditer(source)
        if SENTENCE.search(VALUE.sub("", found.group()))
        and not MARKUP.search(found.group())
        and found.group().strip('"`') not in NAMES
        and not BEFORE_ARGUMENT.search(source[: found.start()])
    ]


def unmarked_in_module(path: Path) -> list[str]:
    """Return string literals like sentences that are no argument of `marked()`, and no documentation."""
    return list(_sentences(ast.parse(path.read_text())))


class _VisibleTexts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_code = tag in {"code", "script", "style"}
        self.found += [
            value for name, value in attrs if name in SHOWN_ATTRIBUTES and value and WORD.search(value)
        ]

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002  # as its base has it
        self._is_code = False

    def handle_data(self, data: str) -> None:
        # A macro may write attributes.
        if WORD.search(data) and not self._is_code and '="' not in data:
            self.found.append(re.sub(r"^[x\s]+|[x\s]+$", "", data))


def _shown_constants(node: nodes.Node) -> Iterator[str]:
    """Yield constants that expressions show or name, outside of translations."""
    for child in node.iter_child_nodes():
        if isinstance(child, nodes.Call) and getattr(child.node, "name", "") in {"_", "gettext", "ngettext"}:
            continue
        if isinstance(child, nodes.Const) and isinstance(child.value, str) and LABEL.match(child.value):
            yield child.value
        yield from _shown_constants(child)


def _sentences(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(
            func=ast.Name(id="marked" | "described" | "page" | "redirect" | "done" | "content" | "Answer")
        ):
            return
        case ast.Call(func=ast.Attribute(attr="translated" | "translated_plural")):
            return
        case ast.Call(func=ast.Name(id="may" | "needs" | "Refused")) | ast.Raise():
            return
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Constant(value=str(text)) if SENTENCE.search(text):
            yield text
    for child in ast.iter_child_nodes(node):
        yield from _sentences(child)
