"""The terminal as a chat app: interactive, a line at a time, or one message."""
