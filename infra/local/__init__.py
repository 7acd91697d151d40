"""A Ray cluster of several nodes and an S3 server on this machine, started by one command and stopped by another."""
