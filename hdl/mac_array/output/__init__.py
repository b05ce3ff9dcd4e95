"""From words of all lanes to atoms: the walk over tiles, pooling, masks, and what leaves."""
