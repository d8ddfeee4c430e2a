"""Property tests: laws that hold for every input hypothesis can think of."""
