"""k x k banks of map words, and the windows read from them."""
