"""The laws of the house: sizes, imports, state and licences, checked over the whole tree."""
