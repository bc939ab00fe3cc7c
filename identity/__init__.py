"""The OpenID Connect provider of the deployment: RFC 6749, OpenID Connect Core 1.0.

Knows nothing of HTTP: its services answer with domain results, the edge makes documents, headers and pages of them.
"""
