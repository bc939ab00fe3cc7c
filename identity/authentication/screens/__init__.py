"""Sign-in and sign-out screens of clients: settings, layouts and stylesheets, validated before they are stored.

Pure: it maps an administrator's input to the content of pages, without records or messages. Stored screens cannot load
or run anything, and cannot affect the page outside their card.

ScreensRefused      `field` names the setting
SourceRefused       a text of our own or another language, with line and column
├─ CssRefused
└─ LayoutRefused
"""
