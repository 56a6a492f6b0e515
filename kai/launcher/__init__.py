"""The small part that starts runs. Standard library only; imports nothing of kai but its own messages."""
