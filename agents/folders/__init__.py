"""Folders of this machine that a user has granted to agents: which may be, where they are, and how they are walked."""
