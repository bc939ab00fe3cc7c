"""Servicers of the directory over the process API: groups, roles, users, tenants, and their members.

They administer the records of the administration API. Its `name` of a group or role is the id here.
"""
