"""Training: which questions are learnt from, split by document; what each target learns and how it is measured."""
