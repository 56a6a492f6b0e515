"""What is remembered. For now only the seam: retrieval answers that it is disabled."""
