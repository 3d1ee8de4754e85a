"""The client's part of breakpoints: `stops` knows which engines wait for commands, and `prompts` asks the user for
these commands."""
