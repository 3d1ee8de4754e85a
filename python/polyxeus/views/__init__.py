"""Views: they send work to a set of engines, and divide it among them."""
