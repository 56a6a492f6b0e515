"""One module per section of the block: each gives its draft from the facts, and decides nothing about room."""
