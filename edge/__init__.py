"""HTTP in front of the services: decode, call, encode, and turn a status into a problem document.

The edge has no opinions of its own: every route, bound and form is read from the contract's descriptors.
"""
