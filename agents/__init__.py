"""Runs, steps, approvals, tools, models and triggers; knows nothing of IMAP, SMTP or MIME."""
