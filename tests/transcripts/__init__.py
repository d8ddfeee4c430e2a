"""Dialogues as files: what a client says and what it must hear, line by line."""
