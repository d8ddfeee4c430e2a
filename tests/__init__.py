"""Behavioural tests, one folder a part of the product."""
