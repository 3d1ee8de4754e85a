"""Views: which engines run something, and how it is cut and sent to them."""
