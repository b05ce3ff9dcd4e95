# Packages {{ top }} as an IP for Vivado's catalogue, with its AXI interfaces.
#
#     vivado -mode batch -source ip.tcl
#
# The IP goes to ip/, next to this file; add that folder to a project's IP repositories.

cd [file dirname [file normalize [info script]]]

set top {{ top }}
set part {{ part }}

create_project -force package_ip build/package_ip -part $part
add_files -norecurse {
{% for file in sources %}
    {{ file }}
{% endfor %}
    {{ wrapper }}
}
add_files -fileset constrs_1 -norecurse clock.xdc
set_property used_in {synthesis implementation out_of_context} [get_files clock.xdc]
{% if language == "vhdl" %}
set_property file_type {VHDL 2008} [get_files *.vhd]
# Vivado cannot package a VHDL-2008 top.
set_property file_type VHDL [get_files {{ wrapper.rpartition("/")[2] }}]
{% endif %}
set_property top $top [current_fileset]
update_compile_order -fileset sources_1

ipx::package_project -root_dir ip -vendor merp -library user -taxonomy /UserIP \
    -import_files -set_current true -force
set core [ipx::current_core]
set_property name $top $core
set_property version {{ version.split(".")[:2] | join(".") }} $core
set_property display_name {{ "{" }}{{ name }}} $core
set_property supported_families {
{% for family in families %}
    {{ family }} Beta
{% endfor %}
} $core
set_property description {{ "{" }}{{ title }}} $core

# Vivado derives the interfaces from the attributes of the top. Check the result.
foreach interface {
{% for name in ["aclk", "aresetn", "interrupt"] + buses %}
    {{ name }}
{% endfor %}
} {
    if {[llength [ipx::get_bus_interfaces $interface -of_objects $core]] != 1} {
        error "interface $interface was not inferred"
    }
}
foreach interface {
{% for name in buses %}
    {{ name }}
{% endfor %}
} {
    ipx::associate_bus_interfaces -busif $interface -clock {{ clock }} $core
}
if {[llength [ipx::get_memory_maps s_axi -of_objects $core]] == 0} {
    ipx::add_memory_map s_axi $core
    set_property slave_memory_map_ref s_axi [ipx::get_bus_interfaces s_axi -of_objects $core]
    ipx::add_address_block registers [ipx::get_memory_maps s_axi -of_objects $core]
}
set map [ipx::get_memory_maps s_axi -of_objects $core]
set_property range {{ address_range }} [ipx::get_address_blocks -of_objects $map]

ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity $core
ipx::save_core $core
close_project
puts "$top packaged in [file normalize ip]"
