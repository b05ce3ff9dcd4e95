-- SPDX-License-Identifier: Apache-2.0
--
-- {{ top }}: {{ title }}.
--
-- The top is VHDL-93, because Vivado's IP packager and block designs require it. The blocks inside
-- are VHDL-2008. The attributes name the interfaces, so that Vivado need not infer them from names.

library ieee;
use ieee.std_logic_1164.all;

entity {{ top }} is
    port (
{% for port in ports %}
        {{ port.name }} : {{ port.direction }} {{ port.type }}{{ "" if loop.last else ";" }}
{% endfor %}
    );

    attribute X_INTERFACE_INFO : string;
    attribute X_INTERFACE_PARAMETER : string;
{% for port, role in roles.items() %}
    attribute X_INTERFACE_INFO of {{ port }} : signal is "{{ role }}";
{% endfor %}
{% for port, values in parameters.items() %}
    attribute X_INTERFACE_PARAMETER of {{ port }} : signal is
        "{{ values | join('"\n        & ", ') }}";
{% endfor %}
end entity {{ top }};

architecture structure of {{ top }} is
begin

    engine : entity work.{{ inner }}
        port map (
{% for port in ports %}
            {{ port.name }} => {{ port.name }}{{ "" if loop.last else "," }}
{% endfor %}
        );

end architecture structure;
