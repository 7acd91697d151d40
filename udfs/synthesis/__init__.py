"""What synthesis knows without a model: fragments, copies of evidence, retrieval, splits. Pure functions of values."""
