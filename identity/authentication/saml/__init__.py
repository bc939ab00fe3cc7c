"""SAML 2.0 Web Browser SSO with an upstream identity provider; this provider is the service provider."""
