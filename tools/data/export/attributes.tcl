# Attributes for synthesis: the style of each memory, and the nets for a logic analyser. Edit this
# file, then build; without edits it has no effect. build.tcl reads it before synthesis. In your own
# project use read_xdc -unmanaged attributes.tcl, or a constraint file of type TCL for synthesis.

# 1: MARK_DEBUG on the nets below, which keeps them through synthesis for an ILA.
set debug 0
set debugged {
{% for net in handshakes %}
    {{ net }}
{% endfor %}
}

# Entity, its array, and RAM_STYLE: auto (Vivado's choice), block, distributed, registers or ultra.
set memories {
{% for entity, memory in memories %}
    {{ entity }} {{ memory }} auto
{% endfor %}
}

if {$debug} {
    set_property MARK_DEBUG true [get_nets $debugged]
}
foreach {entity memory style} $memories {
    if {$style ne "auto"} {
        set within [get_cells -hierarchical -filter "ORIG_REF_NAME == $entity || REF_NAME == $entity"]
        foreach instance $within {
            set_property RAM_STYLE $style [get_cells "$instance/${memory}_reg*"]
        }
    }
}
