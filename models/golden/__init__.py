"""Golden models: what each phase of a layer must compute, bit for bit."""
