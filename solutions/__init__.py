"""The pieces of a Transformer, one module for each chapter of the course."""
