"""The OpenID Connect provider of the deployment: RFC 6749, OpenID Connect Core 1.0.

This package does not depend on HTTP. Its services return domain results, and the edge turns them into documents,
headers and pages.
"""
