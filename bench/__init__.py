"""Measurements, a module for each part of a served Postroom, over real sockets; figures go to docs/performance.md."""
