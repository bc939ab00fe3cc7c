"""Python code for texts that are evaluated often, which runs several times faster than their closures.

The code knows the commonest course only: numbers, strings, booleans, lists and contexts that are what the text
expects of them. It gives up when it meets anything else, a failure, a date or a limit, and the closures evaluate
the text from its beginning. So the closures alone define FEEL; the code gives the same value or none.

No text of a tenant stands in the code: names and values are constants beside it.
"""
