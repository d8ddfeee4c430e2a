"""Measurements: each module measures one part of a served Postroom over real sockets; figures go to docs/performance.md."""
