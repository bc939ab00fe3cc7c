"""The differences between DMN in Camunda's engine and in the standard.

FEEL's own differences are in `feel.dialects`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from server.feel import DialectName


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of DMN.

    - `refuses_problems`: a model with a problem is not compiled; otherwise the place of the problem evaluates
      to null with a failure.
    - `sees_all_variables`: decisions see all variables of the evaluation instead of only their required
      inputs.
    - `converts_values`: values are converted to their types or become null; otherwise only the type of a
      decision's result is checked, and another type fails the evaluation.
    - `checks_input_values`: a decision table refuses inputs that its input values do not allow.
    - `fails_on_violation`: a violated hit policy fails the evaluation; otherwise the table's value is null.
    """

    name: DialectName
    refuses_problems: bool
    sees_all_variables: bool
    converts_values: bool
    checks_input_values: bool
    fails_on_violation: bool


CAMUNDA: Final = Dialect(
    name="camunda",
    refuses_problems=True,
    sees_all_variables=True,
    converts_values=False,
    checks_input_values=False,
    fails_on_violation=True,
)
STANDARD: Final = Dialect(
    name="standard",
    refuses_problems=False,
    sees_all_variables=False,
    converts_values=True,
    checks_input_values=True,
    fails_on_violation=False,
)
DIALECTS: Final[Mapping[DialectName, Dialect]] = {"camunda": CAMUNDA, "standard": STANDARD}
