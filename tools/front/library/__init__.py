"""What ``import merp`` gives: networks and layers to compute with."""
