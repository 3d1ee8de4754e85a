"""Views, which divide work among a set of engines and send it to them."""
