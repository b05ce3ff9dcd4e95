"""All layers of a network at the same time on one chip, and the admission of images."""
