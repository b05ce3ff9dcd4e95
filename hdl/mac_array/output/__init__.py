"""From words of all lanes to output atoms: walk over tiles, pooling, masks and sending."""
