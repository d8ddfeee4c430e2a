"""Tests of settings, secrets, paths and logs."""
