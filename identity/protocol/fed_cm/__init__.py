"""Sign-in mediated by the browser: W3C Federated Credential Management."""
