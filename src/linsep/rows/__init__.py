"""What a kernel sees."""
