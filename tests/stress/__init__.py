"""Many clients at once, each doing what comes to its mind, and a ledger in which what they are told must add up."""
