// SPDX-License-Identifier: Apache-2.0
//
// Self-checking testbench of {{ top }}. It programs a run over AXI4-Lite, sends its input
// streams, and compares every output word and every predictable counter with the files of a
// folder. The last line is PASS or FAIL. Options of the command line:
//
//     +VECTORS=vectors/small  the folder, relative to the folder of the simulation
//     +PAUSE=30               percentage of cycles with a pause of a stream (default 0)
//     +SEED=2                 seed of the pauses
//     +ABORT_AT=100           cycles from the start to an abort and a restart of the run
//     +WATCHDOG={{ watchdog }}         cycles without a transfer until a failure

`timescale 1ns / 10ps

module bench;

    localparam real PERIOD = {{ period_ns }};
    localparam integer TAIL = {{ tail }};  // cycles after the end without any output

    // Registers of every register map, and their bits.
{% for name, value in control.items() %}
    localparam [31:0] {{ name.upper() }} = 32'h{{ "%08x" % value }};
{% endfor %}

    string vectors = "vectors/small";
    integer passes = {{ passes }};  // each in its own folder, 1, 2, ...; 0: one pass
    integer watchdog = {{ watchdog }};
    integer abort_at = 0;  // 0: no abort

    reg aclk = 0;
    reg aresetn = 0;
    wire interrupt;
    integer pass = 0;      // number of the pass
    reg enable = 0;        // streams may transfer words
    integer accesses = 0;  // number of register accesses

{% for port in axi_lite %}
{% if port.direction == "in" %}
    {{ port.type.replace("wire", "reg") }} {{ port.name }} = 0;
{% else %}
    {{ port.type }} {{ port.name }};
{% endif %}
{% endfor %}

{% for stream in streams %}
    wire [{{ stream.width - 1 }}:0] {{ stream.name }}_tdata;
    wire {{ stream.name }}_tvalid, {{ stream.name }}_tready, {{ stream.name }}_tlast;
{% if stream.keep %}
    wire [{{ stream.keep - 1 }}:0] {{ stream.name }}_tkeep;
{% endif %}
{% endfor %}

    integer sent [1:{{ inputs | length }}];
    integer taken [1:{{ outputs | length }}];
    integer compared [1:{{ outputs | length }}];
    integer faults [1:{{ outputs | length }}];
    wire [{{ inputs | length }}:1] source_ended;
    wire [{{ outputs | length }}:1] check_ended;

    always #(PERIOD / 2) aclk = !aclk;

    {{ top }} device (
        .aclk(aclk),
        .aresetn(aresetn),
        .interrupt(interrupt),
{% for port in axi_lite %}
        .{{ port.name }}({{ port.name }}),
{% endfor %}
{% for stream in streams %}
        .{{ stream.name }}_tdata({{ stream.name }}_tdata),
{% if stream.keep %}
        .{{ stream.name }}_tkeep({{ stream.name }}_tkeep),
{% endif %}
        .{{ stream.name }}_tvalid({{ stream.name }}_tvalid),
        .{{ stream.name }}_tready({{ stream.name }}_tready),
        .{{ stream.name }}_tlast({{ stream.name }}_tlast){{ "" if loop.last else "," }}
{% endfor %}
    );

{% for stream in inputs %}
    stream_source #(
        "{{ stream.name }}", {{ stream.element }}, {{ stream.lanes }}, {{ stream.keep // stream.lanes or 1 }}, {{ loop.index }}
    ) play_{{ loop.index }} (
        aclk, pass, enable, {{ "taken[%d] / %d * %d" | format(*answers[stream.name]) if stream.name in answers else "32'h7fffffff" }},
        {{ stream.name }}_tdata, {{ stream.name }}_tvalid, {{ stream.name }}_tready,
        {{ stream.name }}_tlast, {{ stream.name + "_tkeep" if stream.keep else "" }},
        sent[{{ loop.index }}], source_ended[{{ loop.index }}]
    );

{% endfor %}
{% for stream in outputs %}
    stream_check #(
        "{{ stream.name }}", {{ stream.element }}, {{ stream.lanes }}, {{ stream.keep // stream.lanes or 1 }}, {{ inputs | length + loop.index }}
    ) check_{{ loop.index }} (
        aclk, pass, enable, {{ stream.name }}_tdata, {{ stream.name }}_tvalid,
        {{ stream.name }}_tready, {{ stream.name }}_tlast, {{ stream.name + "_tkeep" if stream.keep else "1'b1" }},
        taken[{{ loop.index }}], compared[{{ loop.index }}], faults[{{ loop.index }}], check_ended[{{ loop.index }}]
    );

{% endfor %}
    integer counters = 0, wrong = 0, all_sent = 0, all_compared = 0;
    reg not_taken = 0, missing = 0;
    reg [31:0] held [0:{{ address_range // 4 - 1 }}];  // written values: settings keep them
    reg written [0:{{ address_range // 4 - 1 }}];

    task automatic write_register(input [31:0] address, input [31:0] value);
        s_axi_awaddr <= address[$bits(s_axi_awaddr) - 1:0];
        s_axi_awvalid <= 1;
        s_axi_wdata <= value;
        s_axi_wstrb <= '1;
        s_axi_wvalid <= 1;
        s_axi_bready <= 1;
        forever begin
            @(posedge aclk);
            if (s_axi_bvalid) break;
            if (s_axi_awready) s_axi_awvalid <= 0;
            if (s_axi_wready) s_axi_wvalid <= 0;
        end
        accesses = accesses + 1;
        if (s_axi_bresp !== 0) begin
            wrong = wrong + 1;
            $display("write to %h: response %h", address, s_axi_bresp);
        end
    endtask

    task automatic read_register(input [31:0] address, output [31:0] value);
        s_axi_araddr <= address[$bits(s_axi_araddr) - 1:0];
        s_axi_arvalid <= 1;
        s_axi_rready <= 1;
        forever begin
            @(posedge aclk);
            if (s_axi_rvalid) break;
            if (s_axi_arready) s_axi_arvalid <= 0;
        end
        accesses = accesses + 1;
        value = s_axi_rdata;
        if (s_axi_rresp !== 0) begin
            wrong = wrong + 1;
            $display("read of %h: response %h", address, s_axi_rresp);
        end
    endtask

    function automatic integer opened(input string name);
        string folder;
        folder = pass == 0 ? vectors : $sformatf("%s/%0d", vectors, pass);
        opened = $fopen({folder, "/", name}, "r");
        if (opened == 0) $fatal(1, "no file %s", name);
    endfunction

    task automatic write_settings();
        integer settings;
        reg [31:0] address, value;
        string name;
        settings = opened("registers.txt");
        while ($fscanf(settings, "%h %h %s", address, value, name) == 3)
            if (!written[address / 4] || held[address / 4] != value) begin
                write_register(address, value);
                held[address / 4] = value;
                written[address / 4] = 1;
            end
        $fclose(settings);
    endtask

    // Software resets the engine, then the blocks around it are reset.
    task automatic abort_run();
        reg [31:0] found;
        repeat (abort_at) @(posedge aclk);
        write_register(CONTROL, CONTROL_ABORT);
        do read_register(STATUS, found); while ((found & STATUS_ABORTING) != 0);
        enable <= 0;
        repeat (2) @(posedge aclk);
    endtask

    task automatic check_status();
        integer expected;
        reg [31:0] address, value, found;
        string name;
        expected = opened("status.txt");
        while ($fscanf(expected, "%h %h %s", address, value, name) == 3) begin
            read_register(address, found);
            counters = counters + 1;
            if (found !== value) begin
                wrong = wrong + 1;
                $display("%s: %h instead of %h", name, found, value);
            end
        end
        $fclose(expected);
    endtask

    task automatic show_cycles();
        integer shown;
        reg [31:0] address, found;
        string name;
        shown = opened("cycles.txt");
        while ($fscanf(shown, "%h %s", address, name) == 2) begin
            read_register(address, found);
            $display("cycles %s: %0d", name, found);
        end
        $fclose(shown);
    endtask

    function automatic integer sum_of_sent();
        sum_of_sent = 0;
        foreach (sent[i]) sum_of_sent += sent[i];
    endfunction

    function automatic integer sum_of_taken();
        sum_of_taken = 0;
        foreach (taken[i]) sum_of_taken += taken[i];
    endfunction

    function automatic integer sum_of_compared();
        sum_of_compared = 0;
        foreach (compared[i]) sum_of_compared += compared[i];
    endfunction

    function automatic integer sum_of_faults();
        sum_of_faults = 0;
        foreach (faults[i]) sum_of_faults += faults[i];
    endfunction

    function automatic void fail();
        $display("FAIL");
        $fatal(1);
    endfunction

    task automatic run_pass();
        if (pass > 0) $display("pass %0d", pass);
        write_settings();
        write_register(INTERRUPT_ENABLE, 1);
        write_register(CONTROL, CONTROL_START);
        enable <= 1;
        if ($value$plusargs("ABORT_AT=%d", abort_at)) begin
            abort_run();
            write_register(CONTROL, CONTROL_START);
            enable <= 1;
        end
        @(posedge aclk);
        while (interrupt !== 1) @(posedge aclk);
        repeat (TAIL) @(posedge aclk);
        check_status();
        show_cycles();
        write_register(PENDING, 1);
        all_sent += sum_of_sent();
        all_compared += sum_of_compared();
        not_taken |= !(&source_ended);
        missing |= !(&check_ended);
    endtask

    // Only once, because it ends the simulation. An initial block has no delayed assignments (<=).
    always begin
        if ($value$plusargs("VECTORS=%s", vectors)) begin end
        if ($value$plusargs("PASSES=%d", passes)) begin end
        pass = passes > 0 ? 1 : 0;  // before the first edge, which opens the files
        repeat (4) @(posedge aclk);
        aresetn <= 1;
        foreach (written[i]) written[i] = 0;
        for (integer number = passes > 0 ? 1 : 0; number <= passes; number++) begin
            pass <= number;
            enable <= 0;
            repeat (2) @(posedge aclk);
            run_pass();
        end
        $display(
            "words played %0d, compared %0d, wrong %0d; registers compared %0d, wrong %0d",
            all_sent, all_compared, sum_of_faults(), counters, wrong
        );
        if (not_taken) $display("some input words were not accepted");
        if (missing) $display("output words are missing");
        if (all_compared == 0 || sum_of_faults() + wrong > 0 || not_taken || missing)
            fail();
        $display("PASS");
        $finish;
        wait (0);
    end

    integer quiet = 0, moved, moved_before = 0;

    initial if ($value$plusargs("WATCHDOG=%d", watchdog)) begin end

    always @(posedge aclk) begin
        moved = accesses + sum_of_sent() + sum_of_taken();
        quiet = moved == moved_before ? quiet + 1 : 0;
        moved_before = moved;
        if (quiet == watchdog) begin
            $display(
                "no word moved for %0d cycles; words taken in %0d, given out %0d",
                watchdog, sum_of_sent(), sum_of_taken()
            );
            fail();
        end
    end

endmodule
