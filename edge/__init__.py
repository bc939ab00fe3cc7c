"""HTTP in front of the services: decodes requests, calls services, encodes responses and problem documents.

Every route, bound and body form is read from the contract's descriptors.
"""
