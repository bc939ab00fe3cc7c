"""How much one expression may ask for.

Expressions come from tenants and run inside the engine's loop: each bound is checked before the work
that it bounds, and exceeding one is an error, never a hang. A step is one form evaluated in a loop, one
item looked at by a comparison or a builtin, or a few characters of a string.
"""

from typing import Final

MAX_TEXT_LENGTH: Final = 200_000
"""Characters of an expression."""

MAX_NESTING: Final = 100
"""Levels of an expression; keeps parser, compiler and closures well inside Python's own stack."""

MAX_CALL_NESTING: Final = 200
"""Levels of all function bodies that are being evaluated inside each other."""

MAX_STEPS: Final = 5_000_000
"""Work of one evaluation: a second or two."""

CHARACTERS_PER_STEP: Final = 16

INNER_CHARACTERS_PER_STEP: Final = 64
"""Characters inside a value that is written out or compared, each as often as it stands there."""

MAX_LIST_LENGTH: Final = 2_000_000
"""Items of a list or an iterated range."""

MAX_STRING_LENGTH: Final = 4_000_000
"""Characters of a string that an expression makes; a message of the engine is not larger."""

MAX_VALUE_DEPTH: Final = 100
"""Lists and contexts inside each other."""

MAX_FAILURES: Final = 100
"""Failures kept; what fails after them is null without a word."""

MAX_SHOWN_LENGTH: Final = 500
"""Characters of a value inside a failure's message."""

MAX_MESSAGE_LENGTH: Final = 2_000

MAX_PATTERN_LENGTH: Final = 1_000
MAX_MATCHED_LENGTH: Final = 100_000
"""Characters of a regular expression and of the string it is tried on."""

MAX_MATCH_SECONDS: Final = 0.1
"""Time of one regular expression on one string: most take microseconds, a hostile one ends the evaluation."""

STEPS_PER_SECOND: Final = 2_500_000
"""Steps that the time of a regular expression costs."""
