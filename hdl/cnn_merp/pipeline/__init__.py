"""All layers of a network at once on one chip: slices in a row, and which images are among them."""
