"""Joins mailboxes and agents and owns every wire protocol; the only package that imports the other three."""
