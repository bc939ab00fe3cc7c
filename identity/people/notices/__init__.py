"""Mails that notify users of changes to their account, with a link to report a change as not theirs."""
