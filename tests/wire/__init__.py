"""Tests of the IMAP wire layer and of what is read and rendered with it."""
