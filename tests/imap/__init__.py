"""The IMAP session over real stores: commands, news, limits, TLS; harness.py drives it without sockets."""
