# Out-of-context synthesis and implementation of {{ top }}, with reports of size, timing and
# methodology. Ends with status 1 if the set-up or hold time is not met.
#
#     vivado -mode batch -source build.tcl
#
# Checkpoints and reports go to build/, next to this file.

cd [file dirname [file normalize [info script]]]

set top {{ top }}
set part {{ part }}
set results build

file mkdir $results
create_project -in_memory -part $part

{{ "read_vhdl -vhdl2008" if language == "vhdl" else "read_verilog" }} {
{% for file in sources %}
    {{ file }}
{% endfor %}
}
{{ "read_vhdl" if language == "vhdl" else "read_verilog" }} {{ wrapper }}
read_xdc -mode out_of_context clock.xdc
read_xdc -unmanaged attributes.tcl

synth_design -top $top -part $part -mode out_of_context -flatten_hierarchy rebuilt
write_checkpoint -force $results/synthesis.dcp
report_utilization -hierarchical -file $results/synthesis_hierarchy.rpt
report_utilization -file $results/synthesis_utilization.rpt
report_timing_summary -file $results/synthesis_timing.rpt

# Out of context the clock buffer is outside. With a location, the timer knows the network's delay.
set buffers [get_sites -filter {SITE_TYPE == BUFGCTRL || SITE_TYPE == BUFGCE}]
set_property HD.CLK_SRC [lindex $buffers 0] [get_ports {{ clock }}]

opt_design
place_design
phys_opt_design
route_design
write_checkpoint -force $results/implementation.dcp
report_utilization -hierarchical -file $results/hierarchy.rpt
report_utilization -file $results/utilization.rpt
report_timing_summary -delay_type min_max -max_paths 10 -file $results/timing.rpt
report_drc -file $results/drc.rpt
report_methodology -file $results/methodology.rpt

set missed 0
foreach {check delay} {set-up max hold min} {
    set slack [get_property SLACK [get_timing_paths -delay_type $delay -max_paths 1]]
    puts "$top on $part: worst slack of $check $slack ns at a period of {{ period_ns }} ns"
    if {$slack < 0} {
        set missed 1
    }
}
if {$missed} {
    puts "FAIL: timing is not met"
    exit 1
}
