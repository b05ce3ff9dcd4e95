"""Many tasks, computed once each: on all cores, or on the workers of a Dask cluster."""
