"""The differences between FEEL in Camunda's engine and in DMN 1.5.

Only the operators in `arithmetic` differ elsewhere. docs/feel.md has an example of each difference.
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
    """A dialect of FEEL.

    - `binds_spaced_names`: keys and parameters of a text may be names with spaces.
    - `reads_exponents`: numbers may have an exponent.
    - `calls_any_operand`: any value before parentheses is called.
    - `converts_singletons`: a list of one becomes its item, and an item a list of one, where the other is
      expected.
    - `ends_without_result`: a wrong call, range or substring ends the evaluation; otherwise it is null.
    - `ranges_descend`: a range may descend.
    - `has_empty_substrings`: a substring may be empty, even at the end of its string.
    - `has_builtins_as_values`: a builtin is a value.
    - `overwrites_entries`: a later entry replaces an earlier one with the same key.
    - `compares_booleans`: a boolean from an input entry is compared with a boolean input; otherwise true
      accepts any input.
    - `renames_parameters`: Camunda's parameter names are accepted besides the standard's.
    - `patterns`: the syntax of regular expressions.
    - `takes_null_flags`: the flags of a regular expression may be null.
    - `clips_positions`: a position beyond a list becomes the nearest end.
    - `relates_strings`: strings can be before and after each other.
    - `binds_cell_input`: `cellInput` is another name of `?`.
    - `negates_constants`: `not(true)` is false for any input.
    - `compares_both_ends`: a range test is null if one end cannot be compared with the input.
    - `cuts_parts`: fractions of date and time parts are truncated.
    - `reads_small_z`: a time may end with `z` instead of `Z`.
    - `identity`: maps temporal values to objects that are equal if and only if the values are.
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
