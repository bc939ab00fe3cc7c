"""Walk along the tokens of a text, one token of look-ahead at a time."""

from server.feel.errors import FeelSyntaxError
from server.feel.foreign_operators import foreign_operator
from server.feel.lexer import Token, TokenKind, tokenize

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
        """Step on, and answer the token that was left."""
        token = self.token
        self._index = min(self._index + distance, len(self._tokens) - 1)
        self.token = self._tokens[self._index]
        return token

    def at(self, *words: str) -> bool:
        """Whether the keyword or symbol here is one of these; strings and quoted names never are."""
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
            raise self.unexpected("the end")

    def unexpected(self, expected: str) -> FeelSyntaxError:
        """An error about the token here; for an operator of another language, the message has FEEL's spelling."""
        operator = foreign_operator(self._tokens, self._index)
        if operator is not None:
            message = f"expected '{operator.meant}' but found '{operator.written}'"
            return FeelSyntaxError(message, operator.start)
        token = self.token
        found = "the end" if token.kind is TokenKind.END else f"'{token.text[:40]}'"
        return FeelSyntaxError(f"expected {expected} but found {found}", token.start)
