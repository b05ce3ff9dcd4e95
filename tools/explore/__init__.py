"""How points of a search are chosen, shown and written."""
