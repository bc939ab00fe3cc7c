"""The provider over HTTP: RFC 6749, RFC 7517, RFC 8414, OpenID Connect Discovery 1.0.

This package handles forms, headers, redirects and pages. The services behind the channel make all decisions.
"""
