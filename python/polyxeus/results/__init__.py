"""Results of calls and maps, their metadata and their output."""
