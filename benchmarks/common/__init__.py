"""What several benchmarks tell alike."""
