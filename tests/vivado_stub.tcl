# Stands in for Vivado: its commands that our scripts use. Each has the options of UG835 (ipx: UG1118)
# that scripts may give, those with = take a value, and the least and most number of other arguments.
# Each writes down its call. Anything else is an error. vivado_design.tcl checks block designs.

set commands {
    add_files                    {-fileset= -norecurse} 0 999
    close_project                {} 0 0
    create_clock                 {-name= -period=} 1 1
    create_generated_clock       {-divide_by= -name= -source=} 1 1
    create_project               {-force -in_memory -part=} 0 2
    current_design               {} 0 1
    current_fileset              {} 0 0
    current_project              {} 0 1
    generate_target              {} 2 999
    get_board_parts              {-latest_file_version -quiet} 0 1
    get_cells                    {-filter= -hierarchical} 0 999
    get_files                    {} 0 999
    get_filesets                 {} 0 999
    get_nets                     {} 0 999
    get_pins                     {-hierarchical} 0 999
    get_ports                    {} 0 999
    get_property                 {} 2 2
    get_runs                     {} 0 999
    get_sites                    {-filter=} 0 999
    get_timing_paths             {-delay_type= -max_paths=} 0 0
    launch_runs                  {-jobs=} 1 999
    make_wrapper                 {-top} 1 999
    open_run                     {} 1 1
    opt_design                   {} 0 0
    phys_opt_design              {} 0 0
    place_design                 {} 0 0
    read_verilog                 {} 1 1
    read_vhdl                    {-library= -vhdl2008} 1 1
    read_xdc                     {-mode= -unmanaged} 1 1
    report_cdc                   {-file=} 0 0
    report_drc                   {-file=} 0 0
    report_methodology           {-file=} 0 0
    report_timing_summary        {-delay_type= -file= -max_paths=} 0 0
    report_utilization           {-file= -hierarchical} 0 0
    route_design                 {} 0 0
    set_param                    {} 2 2
    set_property                 {-dict= -name= -objects= -value=} 0 999
    synth_design                 {-flatten_hierarchy= -mode= -part= -top=} 0 0
    update_compile_order         {-fileset=} 0 0
    update_ip_catalog            {} 0 0
    wait_on_run                  {} 1 1
    write_bitstream              {-force} 1 1
    write_cfgmem                 {-file= -force -format= -interface= -loadbit= -size=} 0 1
    write_checkpoint             {-force} 1 1
    write_hw_platform            {-fixed -force} 0 1
    apply_bd_automation          {-config= -rule=} 1 999
    assign_bd_address            {-offset= -range= -target_address_space=} 0 999
    connect_bd_intf_net          {} 2 2
    connect_bd_net               {} 2 999
    create_bd_cell               {-type= -vlnv=} 1 1
    create_bd_design             {} 1 1
    exclude_bd_addr_seg          {-target_address_space=} 1 1
    get_bd_addr_segs             {} 0 1
    get_bd_addr_spaces           {} 0 1
    get_bd_cells                 {} 0 1
    get_bd_intf_pins             {} 0 1
    get_bd_pins                  {} 0 1
    save_bd_design               {} 0 1
    validate_bd_design           {} 0 0
    connect_hw_server            {} 0 0
    create_hw_axi_txn            {-address= -data= -force -len= -type=} 2 2
    get_hw_axi_txns              {} 0 1
    get_hw_axis                  {} 0 1
    get_hw_devices               {} 0 1
    open_hw_manager              {} 0 0
    open_hw_target               {} 0 1
    program_hw_devices           {} 0 999
    refresh_hw_device            {} 0 1
    reset_hw_axi                 {} 1 999
    run_hw_axi                   {} 1 999
    ipx::add_address_block       {} 2 2
    ipx::add_address_space       {} 2 2
    ipx::add_bus_parameter       {} 2 2
    ipx::add_memory_map          {} 2 2
    ipx::associate_bus_interfaces {-busif= -clock= -reset=} 1 1
    ipx::check_integrity         {} 1 1
    ipx::create_xgui_files       {} 1 1
    ipx::current_core            {} 0 0
    ipx::get_address_blocks      {-of_objects=} 0 1
    ipx::get_address_spaces      {-of_objects=} 0 1
    ipx::get_bus_interfaces      {-of_objects=} 0 1
    ipx::get_bus_parameters      {-of_objects=} 0 1
    ipx::get_memory_maps         {-of_objects=} 0 1
    ipx::infer_bus_interface     {} 3 3
    ipx::package_project {-force -import_files -library= -root_dir= -set_current= -taxonomy= -vendor=} 0 0
    ipx::save_core               {} 1 1
    ipx::update_checksums        {} 1 1
}

# What a command answers: the object it is about, where the scripts do not look closer. The
# environment has answers that differ: SLACK, PROGRESS, BOARDS, and INFERRED interfaces of an IP.
proc answer {command arguments} {
    switch $command {
        get_property {
            switch [lindex $arguments 0] {
                SLACK { return [from_environment SLACK 0.125] }
                PROGRESS { return [from_environment PROGRESS 100%] }
                STATUS { return "route_design ERROR" }
                DATA { return $::found }
            }
        }
        get_board_parts { return [from_environment BOARDS $command] }
        generate_target { describe build/system/system.gen/sources_1/bd/system/hw_handoff }
        ipx::infer_bus_interface { lappend ::inferred [lindex $arguments 0] }
        ipx::get_bus_interfaces {
            set known [concat [from_environment INFERRED $arguments] $::inferred]
            return [expr {[lindex $arguments 0] in $known ? $command : ""}]
        }
        ipx::get_bus_parameters { return "" }
        ipx::get_memory_maps { return [expr {[info exists ::mapped] ? "map" : ""}] }
        ipx::add_memory_map { set ::mapped 1 }
        ipx::get_address_spaces { return [expr {[info exists ::spaced] ? "space" : ""}] }
        ipx::add_address_space { set ::spaced 1 }
        create_hw_axi_txn { set ::transaction $arguments }
        run_hw_axi { set ::found [transfer $::transaction] }
    }
    return $command
}

proc from_environment {name usual} {
    if {[info exists ::env($name)]} { set usual $::env($name) }
    return $usual
}

# The description of a block design for software.
proc describe {folder} {
    file mkdir $folder
    close [open $folder/system.hwh w]
}

# A transaction of JTAG to AXI: its word for a read. UG908: the first word is on the left.
proc transfer {arguments} {
    set at [expr 0x[after_option $arguments -address]]
    set count [after_option $arguments -len]
    if {$at % 4096 + 4 * $count > 4096 || $count > 256} {
        error "a burst of $count words at $at is not legal in AXI"
    }
    if {[after_option $arguments -type] eq "READ"} {
        if {![info exists ::words($at)]} { set ::words($at) 00000000 }
        return $::words($at) ;# expr would make a number of it
    }
    set words [split [after_option $arguments -data] _]
    if {[llength $words] != $count} {
        error "$count words have data of [llength $words]"
    }
    foreach word $words {
        set ::words($at) $word
        incr at 4
    }
}

proc after_option {arguments option} {
    return [lindex $arguments [lsearch -exact $arguments $option]+1]
}

# Refuse arguments that a command does not have; return those that are no options.
proc checked {command options least most arguments} {
    set others {}
    for {set i 0} {$i < [llength $arguments]} {incr i} {
        set argument [lindex $arguments $i]
        if {"$argument=" in $options} {
            if {[incr i] == [llength $arguments]} {
                error "$command: option $argument needs a value"
            }
        } elseif {[regexp {^-[a-z]\w*$} $argument]} {
            if {$argument ni $options} {
                error "$command has no option $argument"
            }
        } else {
            lappend others $argument
        }
    }
    set count [llength $others]
    if {$count < $least || $count > $most} {
        error "$command has $count arguments besides options: allowed are $least to $most"
    }
    return $others
}

set inferred {}
source [file join [file dirname [info script]] vivado_design.tcl]
namespace eval ipx {}
foreach {command options least most} $commands {
    proc $command args [string map [list COMMAND $command OPTIONS $options LEAST $least MOST $most] {
        set others [checked COMMAND {OPTIONS} LEAST MOST $args]
        puts "CALL [list COMMAND {*}$args]"
        set found [designed COMMAND $args $others]
        if {$found eq ""} { set found [answer COMMAND $args] }
        return $found
    }]
}

set script [lindex $argv 0]
set argv [lrange $argv 1 end]
source $script
if {[llength $argv]} {
    eval [lindex $argv 0] ;# what a user types behind the script
}
