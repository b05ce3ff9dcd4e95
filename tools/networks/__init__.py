"""The networks that ship, files of networks, and models from elsewhere."""
