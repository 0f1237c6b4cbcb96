"""HTTP dialects that models, cassettes, server and formats share; pure functions without clock or I/O."""
