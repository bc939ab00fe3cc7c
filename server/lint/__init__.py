"""The rules that a resource must meet to be deployed.

A rule is a row of data: the types that it applies to, its evaluator, the evaluator's options, and the
message. The same rows answer queries for the rule set and check deployments.
"""
