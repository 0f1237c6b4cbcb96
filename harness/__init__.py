"""Evaluation and trajectory-replay test harness for LLM agent loops."""
