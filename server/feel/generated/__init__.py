"""Generated Python code for texts that are evaluated often; it is several times faster than closures.

The code handles only the most common case: numbers, strings, booleans, lists and contexts of the types that
the text expects. In any other case (failure, date, limit) it gives up, and the closures evaluate the text
from the beginning. The closures alone define FEEL; the code returns the same value or none.

The code contains no text of a tenant: names and values are passed as constants.
"""
