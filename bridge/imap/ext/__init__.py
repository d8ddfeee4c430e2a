"""Extensions, one a file, each a constant `EXTENSION`. They never import each other; registry.py lists them."""
