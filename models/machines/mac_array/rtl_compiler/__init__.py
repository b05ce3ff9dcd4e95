"""The RTL compiler for CNN training in fixed point: an array unrolled over pixels and maps."""
