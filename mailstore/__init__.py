"""Mailboxes, messages, flags and search in one SQLite file; knows nothing of agents nor of wire syntax."""
