"""The methods of Client, by topic: base classes of Client."""
