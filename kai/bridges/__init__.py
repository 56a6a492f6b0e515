"""Floor 8: one chat app each. A bridge sees the client, the text floor and the model, and nothing else of kai."""
