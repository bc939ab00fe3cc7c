"""Mails to users, queued durably until the mail server has accepted them."""
