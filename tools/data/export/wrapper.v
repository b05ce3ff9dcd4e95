// SPDX-License-Identifier: Apache-2.0
//
// {{ top }}: {{ title }}.
//
// The attributes name the interfaces for Vivado's IP packager and block designs. Vivado need not
// infer them from port names.

`timescale 1ns / 10ps

module {{ top }} (
{% for port in ports %}
    (* X_INTERFACE_INFO = "{{ roles[port.name] }}" *)
{% if port.name in parameters %}
    (* X_INTERFACE_PARAMETER = "{{ parameters[port.name] | join(', ') }}" *)
{% endif %}
    {{ "output" if port.direction == "out" else "input" }} {{ port.type }} {{ port.name }}{{ "" if loop.last else "," }}
{% endfor %}
);

    {{ inner }} engine (
{% for port in ports %}
        .{{ port.name }}({{ port.name }}){{ "" if loop.last else "," }}
{% endfor %}
    );

endmodule
