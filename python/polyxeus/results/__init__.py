"""What comes back from engines: results of calls and maps, their metadata and their output."""
