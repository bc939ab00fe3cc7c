"use strict";

// FedCM: a browser that opened this window so that somebody signs in goes on by itself.
globalThis.IdentityProvider?.close();
