# Stands in for Vivado: its commands that an export's scripts use, each with the options of
# UG835 that they may give, write down how they are called. Anything else is an error.

set options {
    add_files {-fileset -norecurse}
    close_project {}
    create_project {-force -in_memory -part}
    current_fileset {}
    current_project {}
    get_cells {-filter -hierarchical}
    get_files {}
    get_filesets {}
    get_property {}
    get_runs {}
    get_sites {-filter}
    get_timing_paths {-delay_type -max_paths}
    opt_design {}
    phys_opt_design {}
    place_design {}
    read_verilog {}
    read_vhdl {-library -vhdl2008}
    read_xdc {-mode -unmanaged}
    report_drc {-file}
    report_methodology {-file}
    report_timing_summary {-delay_type -file -max_paths}
    report_utilization {-file -hierarchical}
    route_design {}
    set_param {}
    set_property {-name -objects -value}
    synth_design {-flatten_hierarchy -mode -part -top}
    update_compile_order {-fileset}
    write_checkpoint {-force}
    create_clock {-name -period}
    get_nets {}
    get_ports {}
    ipx::add_address_block {}
    ipx::add_memory_map {}
    ipx::associate_bus_interfaces {-busif -clock}
    ipx::check_integrity {}
    ipx::create_xgui_files {}
    ipx::current_core {}
    ipx::get_address_blocks {-of_objects}
    ipx::get_bus_interfaces {-of_objects}
    ipx::get_memory_maps {-of_objects}
    ipx::package_project {-force -import_files -library -root_dir -set_current -taxonomy -vendor}
    ipx::save_core {}
    ipx::update_checksums {}
}

# What a command answers: the object it is about, where the scripts do not look closer.
proc answer {command} {
    switch $command {
        get_property { return [expr {[info exists ::env(SLACK)] ? $::env(SLACK) : 0.125}] }
        ipx::get_memory_maps { return [expr {[info exists ::mapped] ? "map" : ""}] }
        ipx::add_memory_map { set ::mapped 1 }
    }
    return $command
}

namespace eval ipx {}
foreach {command allowed} $options {
    proc $command args [string map [list COMMAND $command ALLOWED $allowed] {
        foreach argument $args {
            if {[regexp {^-\w+$} $argument] && $argument ni {ALLOWED}} {
                error "COMMAND has no option $argument"
            }
        }
        puts "CALL [list COMMAND {*}$args]"
        answer COMMAND
    }]
}

source [lindex $argv 0]
