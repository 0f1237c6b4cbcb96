"""Evaluation: what a model's decisions are worth, and what follows from many of them. Pure (**evaluate**)."""
