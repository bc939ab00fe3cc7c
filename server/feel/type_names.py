"""Parses types: `number`, `list<context<a: string>>`, `function<number> -> date and time`."""

from server.feel.pratt import Parser
from server.feel.types import SYNONYMS, ContextType, FunctionType, ListType, NamedType, RangeType, Type

_NAMES_WITH_KEYWORDS = (
    ("date", "and", "time"),
    ("years", "and", "months", "duration"),
    ("days", "and", "time", "duration"),
    ("year", "-", "month", "-", "duration"),
    ("day", "-", "time", "-", "duration"),
)


def type_of(parser: Parser) -> Type:
    parser.enter()
    parsed = _type_of(parser)
    parser.leave()
    return parsed


def _type_of(parser: Parser) -> Type:
    match parser.token.text if parser.is_symbol(1, "<") else "":
        case "list":
            return ListType(_only_argument(parser))
        case "range":
            return RangeType(_only_argument(parser))
        case "context":
            return _context(parser)
        case "function":
            return _function(parser)
        case _:
            return _named(parser)


def _only_argument(parser: Parser) -> Type:
    parser.advance(2)
    argument = type_of(parser)
    parser.expect(">")
    return argument


def _context(parser: Parser) -> Type:
    parser.advance(2)
    entries = () if parser.at(">") else parser.separated(lambda: _entry(parser))
    parser.expect(">")
    return ContextType(entries)


def _entry(parser: Parser) -> tuple[str, Type]:
    name = parser.parameter()
    parser.expect(":")
    return name, type_of(parser)


def _function(parser: Parser) -> Type:
    parser.advance(2)
    parameters = () if parser.at(">") else parser.separated(lambda: type_of(parser))
    parser.expect(">")
    parser.expect("-")
    parser.expect(">")
    return FunctionType(parameters, type_of(parser))


def _named(parser: Parser) -> Type:
    for words in _NAMES_WITH_KEYWORDS:
        if parser.spells(words):
            joined = ("" if "-" in words else " ").join(parser.advance().text for _ in words)
            return NamedType(SYNONYMS.get(joined, joined))
    if parser.at("null", "function"):
        return NamedType(parser.advance().text)
    name = _words(parser)
    while parser.accept("."):
        name += f".{_words(parser)}"
    return NamedType(SYNONYMS.get(name, name))


def _words(parser: Parser) -> str:
    words = [parser.name()]
    while parser.at_plain_word():
        words.append(parser.advance().text)
    return " ".join(words)
