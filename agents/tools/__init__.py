"""The built-in tools, one file each; `agents.discover` finds them. See `agents.tool` for what a tool is."""
