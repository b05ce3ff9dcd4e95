# Sets out-of-context synthesis in an existing project, such as that of FuseSoC's target synth. The
# pins of {{ top }} belong to the surrounding design.

set_property -name {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS} -value {-mode out_of_context} \
    -objects [get_runs synth_1]
