"""Fetching web pages for agents: which addresses may be reached, one exchange over HTTP, one page whole."""
