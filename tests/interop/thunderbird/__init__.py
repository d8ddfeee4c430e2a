"""Thunderbird itself, driven by Marionette on a screen of its own (Xvfb): `make thunderbird`."""
