# The block design of the stub of Vivado: cells, their pins, and what is connected.
#
# Pins are those of PG082 (processing_system7), PG201 (zynq_ultra_ps_e), UG586 (mig_7series), PG174
# (jtag_axi), PG247 (smartconnect), PG065 (clk_wiz), PG164 (proc_sys_reset), and of our IP. Some
# depend on parameters of the cell: a pin is there if its parameter has that value.
# Of each IP: interfaces, pins, those that must be connected, spaces and segments of addresses,
# parameters on which no pin depends, and the rule of its automation.

set kinds {
    xilinx.com:ip:processing_system7 {
        interfaces {M_AXI_GP0 {PCW_USE_M_AXI_GP0 1} S_AXI_HP0 {PCW_USE_S_AXI_HP0 1}}
        pins {
            FCLK_CLK0 {PCW_EN_CLK0_PORT 1} FCLK_RESET0_N {PCW_EN_RST0_PORT 1}
            M_AXI_GP0_ACLK {PCW_USE_M_AXI_GP0 1} S_AXI_HP0_ACLK {PCW_USE_S_AXI_HP0 1}
            IRQ_F2P {PCW_USE_FABRIC_INTERRUPT 1 PCW_IRQ_F2P_INTR 1}
        }
        needs {M_AXI_GP0_ACLK S_AXI_HP0_ACLK M_AXI_GP0 S_AXI_HP0 IRQ_F2P}
        addresses {Data S_AXI_HP0/HP0_DDR_LOWOCM}
        others {PCW_FPGA0_PERIPHERAL_FREQMHZ PCW_S_AXI_HP0_DATA_WIDTH}
        rule xilinx.com:bd_rule:processing_system7
    }
    xilinx.com:ip:zynq_ultra_ps_e {
        interfaces {M_AXI_HPM0_FPD {PSU__USE__M_AXI_GP0 1} S_AXI_HP0_FPD {PSU__USE__S_AXI_GP2 1}}
        pins {
            pl_clk0 {PSU__FPGA_PL0_ENABLE 1} pl_resetn0 {PSU__USE__FABRIC__RST 1}
            maxihpm0_fpd_aclk {PSU__USE__M_AXI_GP0 1} saxihp0_fpd_aclk {PSU__USE__S_AXI_GP2 1}
            pl_ps_irq0 {PSU__USE__IRQ0 1}
        }
        needs {maxihpm0_fpd_aclk saxihp0_fpd_aclk M_AXI_HPM0_FPD S_AXI_HP0_FPD pl_ps_irq0}
        addresses {Data SAXIGP2/HP0_DDR_LOW SAXIGP2/HP0_QSPI SAXIGP2/HP0_LPS_OCM}
        others {PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ PSU__USE__M_AXI_GP1 PSU__USE__M_AXI_GP2 PSU__SAXIGP2__DATA_WIDTH}
        rule xilinx.com:bd_rule:zynq_ultra_ps_e
    }
    xilinx.com:ip:mig_7series {
        interfaces {S_AXI {}}
        pins {ui_clk {} ui_clk_sync_rst {} mmcm_locked {} aresetn {} sys_rst {} init_calib_complete {}}
        needs {S_AXI aresetn sys_rst}
        addresses memmap/memaddr
        others {}
        rule xilinx.com:bd_rule:mig_7series
    }
    xilinx.com:ip:jtag_axi {
        interfaces {M_AXI {}} pins {aclk {} aresetn {}} needs {M_AXI aclk aresetn}
        addresses Data others {}
    }
    xilinx.com:ip:smartconnect {
        interfaces {S00_AXI {} S01_AXI {NUM_SI 2} M00_AXI {} M01_AXI {NUM_MI 2}}
        pins {aclk {} aclk1 {NUM_CLKS 2} aresetn {}}
        needs {S00_AXI S01_AXI M00_AXI M01_AXI aclk aclk1 aresetn} addresses {} others {}
    }
    xilinx.com:ip:clk_wiz {
        interfaces {} pins {clk_in1 {} reset {USE_RESET true} locked {} clk_out1 {} clk_out2 {CLKOUT2_USED true}}
        needs {clk_in1 clk_out1 clk_out2} addresses {}
        others {PRIM_SOURCE CLKOUT1_REQUESTED_OUT_FREQ CLKOUT2_REQUESTED_OUT_FREQ}
    }
    xilinx.com:ip:proc_sys_reset {
        interfaces {}
        pins {
            slowest_sync_clk {} ext_reset_in {} aux_reset_in {} mb_debug_sys_rst {} dcm_locked {}
            mb_reset {} bus_struct_reset {} peripheral_reset {} interconnect_aresetn {}
            peripheral_aresetn {}
        }
        needs {slowest_sync_clk ext_reset_in dcm_locked} addresses {} others {}
    }
    merp:user:memory_system {
        interfaces {s_axi {} m_axi {}} pins {clk {} rst {} interrupt {} moves {} begins {} ends {}}
        needs {s_axi m_axi clk rst} addresses {m_axi s_axi/registers} others {}
    }
}
set cells {} ;# the IP of each cell
set parameters {} ;# and its parameters
set connected {}
set automated {}

# Answer a command of block designs; empty if it is none.
proc designed {command arguments others} {
    set first [lindex $others 0]
    switch $command {
        create_bd_cell {
            set kind [after_option $arguments -vlnv]
            if {![dict exists $::kinds $kind] || [dict exists $::cells $first]} {
                error "create_bd_cell: no IP $kind, or a second cell $first"
            }
            dict set ::cells $first $kind
            dict set ::parameters $first {}
            return $first
        }
        get_bd_cells { return [known_cell $first] }
        get_bd_pins { return [pin_of pins $first] }
        get_bd_intf_pins { return [pin_of interfaces $first] }
        get_bd_addr_spaces - get_bd_addr_segs { return [address_of $first] }
        set_property {
            if {[dict exists $::cells $first] && "-dict" in $arguments} {
                configure $first [after_option $arguments -dict]
            }
        }
        connect_bd_net - connect_bd_intf_net {
            foreach pin [expr {$command eq "connect_bd_net" ? [lrange $others 1 end] : $others}] {
                if {$pin in $::connected} { error "$pin is already connected" }
                lappend ::connected $pin
            }
            lappend ::connected $first
        }
        apply_bd_automation { automate [after_option $arguments -rule] $first }
        validate_bd_design { validate }
    }
    return ""
}

proc known_cell {name} {
    if {![dict exists $::cells $name]} { error "no cell $name" }
    return $name
}

proc fact {cell name} { return [dict get $::kinds [dict get $::cells $cell] $name] }

# A pin, which is there with the cell's parameters.
proc pin_of {what path} {
    if {![regexp {^(\w+)/(\w+)$} $path -> cell pin]} { error "no pin $path" }
    known_cell $cell
    if {![dict exists [fact $cell $what] $pin]} { error "[fact $cell $what]: no pin $path" }
    if {![present $cell [dict get [fact $cell $what] $pin]]} { error "parameters hide $path" }
    return $path
}

proc present {cell wanted} {
    dict for {name value} $wanted {
        set has [dict get $::parameters $cell]
        if {![dict exists $has $name] || [dict get $has $name] ne $value} { return 0 }
    }
    return 1
}

proc configure {cell values} {
    dict for {name value} $values {
        set known [concat [fact $cell others] [dict values [fact $cell pins]] \
            [dict values [fact $cell interfaces]]]
        if {![regexp {^CONFIG\.(\w+)$} $name -> parameter] || $parameter ni [join $known]} {
            error "$cell has no parameter $name"
        }
        dict set ::parameters $cell $parameter $value
    }
}

proc address_of {path} {
    if {![regexp {^(\w+)/(.+)$} $path -> cell place]} { error "no addresses $path" }
    known_cell $cell
    set found [lsearch -inline [fact $cell addresses] $place]
    if {$found eq ""} { error "no addresses $path" }
    return $cell/$found
}

proc automate {rule object} {
    lassign [split $object /] cell pin
    if {$rule eq "xilinx.com:bd_rule:board"} {
        lappend ::connected $object
    } elseif {![dict exists [dict get $::kinds [dict get $::cells $cell]] rule] || $rule ne [fact $cell rule]} {
        error "rule $rule is not for $object"
    }
    lappend ::automated $cell
}

# Refuse a design with an open pin that must be connected, or a cell that its rule did not set up.
proc validate {} {
    dict for {cell kind} $::cells {
        set all [concat [fact $cell pins] [fact $cell interfaces]]
        foreach pin [fact $cell needs] {
            if {[present $cell [dict get $all $pin]] && "$cell/$pin" ni $::connected} {
                error "$cell/$pin is not connected"
            }
        }
        if {[dict exists $::kinds $kind rule] && $cell ni $::automated} {
            error "no automation for $cell"
        }
    }
}
