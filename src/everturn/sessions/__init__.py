"""A session on disk and its account: the journal, its replay, and the ledger."""
