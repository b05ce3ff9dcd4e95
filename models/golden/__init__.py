"""Golden models: the bit-exact result of each phase of a layer."""
