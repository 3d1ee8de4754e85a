"""The client's part of breakpoints: `stops` records which engines wait for debugger commands, and
`prompts` asks the user for these commands."""
