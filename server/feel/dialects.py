"""FEEL as Camunda's engine reads it, and FEEL as DMN 1.5 writes it: all that differs, in one place.

Beside these fields only the operators of `arithmetic` differ. docs/feel.md has an example of each difference.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from server.feel.temporal import comparison
from server.feel.temporal.values import Temporal

DialectName: TypeAlias = Literal["camunda", "standard"]
Syntax: TypeAlias = Literal["java", "xpath"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Differences between users of FEEL, in the order of the fields.

    Keys and parameters of a text may be used as names, spaces and all. A number may have an exponent. Any value
    before parentheses is called. A list of one is its item, and an item a list of one, where the other is asked for.
    A wrong call, range or substring ends the evaluation; else it is null. A range may descend. A substring may be
    empty, at the end of its string too. A builtin is a value. A later entry takes the place of an earlier one with its
    key. A boolean that an input entry makes is compared with a boolean input; else true accepts any input. Parameters
    have Camunda's names beside the standard's. Regular expressions are Java's or XPath's. Flags of one may be null. A
    position beyond a list is that of its nearest end. Strings are before and after each other. `cellInput` is another
    name of `?`. `not(true)` is false whatever the input is. A range tests nothing if one of its ends cannot be compared
    with the input. Fractions of the parts of dates and times are cut. A time may end with `z` for `Z`. `identity` maps temporal values to what is equal exactly if
    they are.
    """

    name: DialectName
    binds_spaced_names: bool
    reads_exponents: bool
    calls_any_operand: bool
    converts_singletons: bool
    ends_without_result: bool
    ranges_descend: bool
    has_empty_substrings: bool
    has_builtins_as_values: bool
    overwrites_entries: bool
    compares_booleans: bool
    renames_parameters: bool
    patterns: Syntax
    takes_null_flags: bool
    clips_positions: bool
    relates_strings: bool
    binds_cell_input: bool
    negates_constants: bool
    compares_both_ends: bool
    cuts_parts: bool
    reads_small_z: bool
    identity: Callable[[Temporal], Hashable]


CAMUNDA: Final = Dialect(
    name="camunda",
    binds_spaced_names=False,
    reads_exponents=False,
    calls_any_operand=False,
    converts_singletons=False,
    ends_without_result=True,
    ranges_descend=True,
    has_empty_substrings=True,
    has_builtins_as_values=False,
    overwrites_entries=True,
    compares_booleans=False,
    renames_parameters=True,
    patterns="java",
    takes_null_flags=False,
    clips_positions=True,
    relates_strings=False,
    binds_cell_input=True,
    negates_constants=True,
    compares_both_ends=True,
    cuts_parts=True,
    reads_small_z=False,
    identity=comparison.structure,
)
STANDARD: Final = Dialect(
    name="standard",
    binds_spaced_names=True,
    reads_exponents=True,
    calls_any_operand=True,
    converts_singletons=True,
    ends_without_result=False,
    ranges_descend=False,
    has_empty_substrings=False,
    has_builtins_as_values=True,
    overwrites_entries=False,
    compares_booleans=True,
    renames_parameters=False,
    patterns="xpath",
    takes_null_flags=True,
    clips_positions=False,
    relates_strings=True,
    binds_cell_input=False,
    negates_constants=False,
    compares_both_ends=False,
    cuts_parts=False,
    reads_small_z=True,
    identity=comparison.instant_of_second,
)
DIALECTS: Final[Mapping[DialectName, Dialect]] = {"camunda": CAMUNDA, "standard": STANDARD}
