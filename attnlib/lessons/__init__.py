"""What is taught: named examples, history, and every claim of the lesson computed."""
