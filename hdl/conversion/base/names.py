"""Choose names in exported files: legal and distinct both in VHDL and in Verilog.

Private to this folder. Both languages get the same names, as far as their rules allow.
"""

from __future__ import annotations

import re

VHDL_KEYWORDS = frozenset(
    """
    abs access after alias all and architecture array assert assume assume_guarantee attribute begin
    block body buffer bus case component configuration constant context cover default disconnect
    downto else elsif end entity exit fairness file for force function generate generic group
    guarded if impure in inertial inout is label library linkage literal loop map mod nand new next
    nor not null of on open or others out package parameter port postponed procedure process
    property protected pure range record register reject release rem report restrict
    restrict_guarantee return rol ror select sequence severity shared signal sla sll sra srl strong
    subtype then to transport type unaffected units until use variable vmode vprop vunit wait when
    while with xnor xor
    private view
    across break limit nature noise procedural quantity reference spectrum subnature terminal
    through tolerance
    """.split()
)
"""Of VHDL-87 to 2008, of 2019 (``private``, ``view``), and of VHDL-AMS (``across`` to the end)."""

VERILOG_KEYWORDS = frozenset(
    """
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
    before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle
    checker class clocking cmos config const constraint context continue cover covergroup coverpoint
    cross deassign default defparam design disable dist do edge else end endcase endchecker endclass
    endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage
    endprimitive endprogram endproperty endspecify endsequence endtable endtask enum event
    eventually expect export extends extern final first_match for force foreach forever fork
    forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins
    implements implies import incdir include initial inout input inside instance int integer
    interconnect interface intersect join join_any join_none large let liblist library local
    localparam logic longint macromodule matches medium modport module nand negedge nettype new
    nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
    posedge primitive priority program property protected pull0 pull1 pulldown pullup
    pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime
    ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always
    s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super
    supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union
    unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait
    wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
    """.split()
)

KEYWORDS = VHDL_KEYWORDS | VERILOG_KEYWORDS

# Names that generated VHDL calls: a signal of that name would hide them.
_VHDL_VISIBLE = frozenset(
    """
    are_converted boolean ceil_log2 choose false falling_edge ieee integer maximum natural now
    resize rising_edge rtl shift_left shift_right signed std std_logic std_logic_vector to_integer
    to_signed to_std_logic to_unsigned true unsigned work
    """.split()
)


def flaw(name: str) -> str | None:
    """Return the reason why ``name`` cannot name a port, or None."""
    if name.lower() in KEYWORDS:
        return "is a keyword of VHDL or Verilog"
    if name.lower() in _VHDL_VISIBLE:
        return "hides a name of VHDL's packages"
    if not re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", name):
        return "is not an identifier of VHDL (letters, digits, single inner underscores)"
    return None


class Names:
    """The names taken in one entity, case ignored."""

    def __init__(self) -> None:
        self._taken = set(KEYWORDS | _VHDL_VISIBLE)

    def inside(self) -> Names:
        """Return the names within a process, which may not hide names of the entity."""
        found = Names()
        found._taken = set(self._taken)
        return found

    def claim(self, name: str) -> bool:
        """Claim ``name`` unchanged; return False if it was taken before."""
        free = name.lower() not in self._taken
        self._taken.add(name.lower())
        return free

    def unique(self, wanted: str, suffix: str = "") -> str:
        """Claim a free legal name, as close to ``wanted`` as possible; try ``suffix`` first."""
        base = re.sub(r"_+", "_", re.sub(r"\W", "_", wanted)).strip("_") or "unnamed"
        if base[0].isdigit():
            base = f"n{base}"
        candidates = [base, f"{base}_{suffix}"] if suffix else [base]
        for name in candidates:
            if self.claim(name):
                return name
        number = 1
        while not self.claim(f"{candidates[-1]}_{number}"):
            number += 1
        return f"{candidates[-1]}_{number}"
