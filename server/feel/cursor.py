"""A cursor over the tokens of a text."""

from typing import Final

from server.feel.errors import FeelSyntaxError
from server.feel.foreign_operators import foreign_operator
from server.feel.lexer import Token, TokenKind, tokenize
from server.feel.suggestions import nearest

AN_OPERATOR_OR_THE_END: Final = "an operator or the end"
_KEYWORDS: Final = ("and", "between", "else", "in", "instance", "or", "return", "satisfies", "then")
_MAX_SHOWN: Final = 40
_PARTS: Final = {'"': "string", "`": "name"}
"""Quoted parts by their quote character; an unmatched quote is a symbol."""

_WORDS = frozenset({TokenKind.NAME, TokenKind.SYMBOL})


class Cursor:
    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokenize(text)
        self._index = 0
        self.token = self._tokens[0]

    def ahead(self, distance: int = 1) -> Token:
        return self._tokens[min(self._index + distance, len(self._tokens) - 1)]

    def advance(self, distance: int = 1) -> Token:
        """Advance, and return the token that was left."""
        token = self.token
        self._index = min(self._index + distance, len(self._tokens) - 1)
        self.token = self._tokens[self._index]
        return token

    def at(self, *words: str) -> bool:
        """Whether the current keyword or symbol is one of these words; strings and quoted names never are."""
        return self.token.text in words and self.token.kind in _WORDS

    def accept(self, word: str) -> bool:
        if not self.at(word):
            return False
        self.advance()
        return True

    def expect(self, *words: str) -> Token:
        if not self.at(*words):
            raise self.unexpected(" or ".join(f"'{word}'" for word in words))
        return self.advance()

    def expect_end(self) -> None:
        if self.token.kind is not TokenKind.END:
            raise self.unexpected(AN_OPERATOR_OR_THE_END)

    def unexpected(self, expected: str) -> FeelSyntaxError:
        """Return an error about the current token; for another language's operator it names FEEL's operator."""
        open_part = self._open_part()
        if open_part is not None:
            return open_part
        operator = foreign_operator(self._tokens, self._index)
        if operator is not None:
            message = f"expected '{operator.meant}' but found '{operator.written}'"
            return self.refused(message, operator.start)
        token = self.token
        found = "the end" if token.kind is TokenKind.END else f"'{token.text[:_MAX_SHOWN]}'"
        meant = nearest(token.text, _KEYWORDS) if token.kind is TokenKind.NAME else None
        is_news = meant is not None and f"'{meant}'" not in expected and meant != token.text
        hint = f"; did you mean '{meant}'?" if is_news else ""
        return self.refused(f"expected {expected} but found {found}{hint}", token.start)

    def _open_part(self) -> FeelSyntaxError | None:
        """Return the error for an unterminated string or quoted name, whose opening quote is a symbol."""
        token = self.token
        if token.kind is not TokenKind.SYMBOL or token.text not in _PARTS:
            return None
        part = _PARTS[token.text]
        message = f"expected '{token.text}' at the end of the {part} that begins here but found the end"
        return self.refused(message, token.start)

    def refused(self, message: str, position: int) -> FeelSyntaxError:
        return FeelSyntaxError(message, self.text, position)
