"""The model providers, one file or folder each; `agents.discover` finds them. See `agents.llm` for what a model is."""
