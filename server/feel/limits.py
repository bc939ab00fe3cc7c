"""Limits of one expression.

Tenants write expressions, which run in the engine's event loop. Each limit is checked before the work it
limits, and exceeding one raises an error. A step is one node evaluated in a loop, one item visited by a
comparison or builtin, or several characters of a string.
"""

from typing import Final

MAX_TEXT_LENGTH: Final = 200_000
"""Longest expression, in characters."""

MAX_NESTING: Final = 100
"""Deepest nesting of an expression; keeps parser, compiler and closures within Python's stack."""

MAX_CALL_NESTING: Final = 200
"""Deepest nesting of all function bodies under evaluation."""

MAX_STEPS: Final = 5_000_000
"""Most steps of one evaluation, which take one or two seconds."""

CHARACTERS_PER_STEP: Final = 16

INNER_CHARACTERS_PER_STEP: Final = 64
"""Characters per step inside a value that is formatted or compared; each occurrence counts."""

MAX_LIST_LENGTH: Final = 2_000_000
"""Most items of a list or an iterated range."""

MAX_STRING_LENGTH: Final = 4_000_000
"""Longest string that an expression creates; the engine's messages are not larger."""

MAX_VALUE_DEPTH: Final = 100
"""Deepest nesting of lists and contexts."""

MAX_FAILURES: Final = 100
"""Most failures that are recorded; later ones are dropped."""

MAX_SHOWN_LENGTH: Final = 500
"""Longest text of a value in a failure's message."""

MAX_MESSAGE_LENGTH: Final = 2_000

MAX_PATTERN_LENGTH: Final = 1_000
MAX_MATCHED_LENGTH: Final = 100_000
"""Longest string that a regular expression is applied to."""

MAX_MATCH_SECONDS: Final = 0.1
"""Longest time of one match: most take microseconds, and a hostile pattern ends the evaluation."""

STEPS_PER_SECOND: Final = 2_500_000
"""Steps charged for the time of a regular expression."""
