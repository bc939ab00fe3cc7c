"""Python code for texts that are evaluated often, which runs several times faster than their closures.

The code knows the commonest course only: numbers, strings, booleans, lists and contexts that are what the text
expects of them. Whatever else it meets, be it a failure, a date or a limit, it gives up, and the closures evaluate
the text from its beginning. So they alone say what FEEL means, and the code agrees with them or says nothing.

No text of a tenant stands in the code: names and values are constants beside it.
"""
