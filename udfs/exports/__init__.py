"""What leaves the tables: the benchmark, SFT records and DPO pairs as files that others load, and their card."""
