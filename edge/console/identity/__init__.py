"""Pages for administrators of a tenant: lists and forms, each declared as a kind of record.

A declaration names RPCs of the administration API and fields of their messages. Bounds, kinds of values and closed sets
of words come from the contract, so another kind of record needs only a declaration and no template.
"""
