"""`gnomon admin`: what operators of a durable deployment look at, and what they change, in its database.

Every command works on the database itself, so that none needs a server that answers; all work while one does.
"""
