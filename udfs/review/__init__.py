"""Manual review: a sample is drawn, people say of each item whether it passes, their answers become numbers."""
