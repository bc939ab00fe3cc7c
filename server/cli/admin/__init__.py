"""`gnomon admin`: inspect and change a durable deployment in its database.

Every command works on the database directly, so none needs a running server; all work beside one.
"""
