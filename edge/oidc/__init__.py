"""The provider over HTTP: RFC 6749, RFC 7517, RFC 8414, OpenID Connect Discovery 1.0.

Forms, headers, redirects and pages live here; what is granted to whom is decided behind the channel.
"""
