"""The generation pipeline: one file an agent, the program that asks them about a document, and the console."""
