# {{ clock_mhz }} MHz. For out-of-context runs: in a design of yours the clock comes from outside.
create_clock -name {{ clock }} -period {{ period_ns }} [get_ports {{ clock }}]
