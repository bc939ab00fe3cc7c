"""Sign-in and sign-out screens of clients: settings, layouts and stylesheets, each checked before it is kept.

Pure: takes what an administrator wrote to what a page is made of, and knows neither records nor wires. Nothing that is
kept can load anything, run anything, or reach beyond the card that it is about.

ScreensRefused      `field` names the setting
SourceRefused       a text of a language of ours or of others, with line and column
├─ CssRefused
└─ LayoutRefused
"""
