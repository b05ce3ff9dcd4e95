# Out-of-context synthesis and implementation of {{ top }}, with reports of size and timing.
#
#     vivado -mode batch -source build.tcl
#
# Checkpoints and reports go to build/, beside this file.

cd [file dirname [file normalize [info script]]]

set top {{ top }}
set part {{ part }}
set results build

file mkdir $results
create_project -in_memory -part $part

read_vhdl -vhdl2008 {
{% for file in sources %}
    {{ file }}
{% endfor %}
}
read_vhdl {{ wrapper }}
read_xdc -mode out_of_context clock.xdc

synth_design -top $top -part $part -mode out_of_context -flatten_hierarchy rebuilt
write_checkpoint -force $results/synthesis.dcp
report_utilization -hierarchical -file $results/synthesis_hierarchy.rpt
report_utilization -file $results/synthesis_utilization.rpt
report_timing_summary -file $results/synthesis_timing.rpt

opt_design
place_design
phys_opt_design
route_design
write_checkpoint -force $results/implementation.dcp
report_utilization -hierarchical -file $results/hierarchy.rpt
report_utilization -file $results/utilization.rpt
report_timing_summary -max_paths 10 -file $results/timing.rpt
report_drc -file $results/drc.rpt

set slack [get_property SLACK [get_timing_paths -max_paths 1]]
puts "$top on $part: worst slack $slack ns at a period of {{ period_ns }} ns"
