"""The rules that a resource keeps before it is deployed.

A rule is a row: what it applies to, which kind of check decides, with what options, and the words
for a refusal. The same rows answer the rule-set query and drive the deployment.
"""
