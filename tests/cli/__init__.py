"""The command line: in this process where that is enough, as a process of its own where it matters."""
