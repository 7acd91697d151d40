"""What a run will cost, before it starts: its prompts as the engine would be sent them, and what nobody knows yet."""
