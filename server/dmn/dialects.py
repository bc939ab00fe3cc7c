"""DMN as Camunda's engine evaluates it, and DMN as the standard writes it: all that differs, in one place.

FEEL has its own differences, see `feel.dialects`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from server.feel import DialectName


@dataclass(frozen=True, slots=True)
class Dialect:
    """`refuses_problems`: a model with one is not compiled; else what has one is null and a failure.

    `sees_all_variables`: decisions see every variable they are evaluated with, not only required inputs.
    `converts_values`: values become what their types ask for, or null; else only the result of a decision is
    looked at, and the evaluation fails if its type is another.
    `checks_input_values`: a decision table refuses inputs that its input values do not allow.
    `fails_on_violation`: a hit policy that is violated ends the evaluation, else the table's value is null.
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
