"""What the standards demand, a row a demand, and proof that each row is tested and each claim has a row."""
