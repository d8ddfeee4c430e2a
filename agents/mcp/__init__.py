"""MCP servers: programs and services of others whose tools the agents may use.

The rule: the SDK is imported only when a server is configured, so `file`, `pins`, `tool` and `servers` never import it
at their top; `owner`, `stdio`, `http` and `results` do, and are imported by `servers` when there is work for them.
"""
