# {{ clock_mhz }} MHz. For out-of-context runs. In a complete design the clock is constrained outside.
create_clock -name {{ clock }} -period {{ period_ns }} [get_ports {{ clock }}]
