"""Settings, paths and secrets; imports nothing else of ours, and is the only package that reads the environment."""
