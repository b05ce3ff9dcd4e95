# For a project that is there, as FuseSoC's target synth makes it: synthesis out of context, as
# the pins of {{ top }} belong to the design around it.

set_property -name {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS} -value {-mode out_of_context} \
    -objects [get_runs synth_1]
