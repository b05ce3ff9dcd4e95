// The simulated board behind a C interface: registers, interrupt, memory, counters of the bus.
//
// tables.h, written for each board, has the geometry of its memory and the arrays of its banks.
// A cycle is: inputs settle, the bus is counted, the edge. Outputs are those after the edge.

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "Vmerp_board.h"
#include "Vmerp_board___024root.h"
#include "tables.h"
#include "verilated.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of the model are bytes of memory");

constexpr uint64_t NONE = ~uint64_t{0};
constexpr int RESET_CYCLES = 16, LONGEST_BURST = 256;
constexpr uint64_t WINDOWS = 64, FIRST_WINDOW = 16;
constexpr int MOST_STREAMS = 128, MOST_ENGINES = 16, MOST_IDS = 32;
static_assert(STREAMS <= MOST_STREAMS, "a pass has no place for so many streams");

// As in bus.py.
struct Direction {
    uint64_t beats, bytes, busy, waiting, answered, latency_sum, latency_least, latency_most;
    uint64_t row_hits, row_misses;
    uint64_t bursts[LONGEST_BURST + 1];
    uint64_t windows[WINDOWS];  // bytes
};

// Elements of a stream since an engine began; their first and last cycle. It began in cycle 0.
struct Moves {
    uint64_t words, first, last;
};

// Beats and bytes on the bus, by the ID of their burst; bytes of writes are those with a strobe.
struct Crossed {
    uint64_t beats[MOST_IDS], bytes[MOST_IDS];
};

// A pass of an engine: its start, and the cycles until its interrupt, or NONE. Streams and bus are
// those of all engines; only its own belong to the pass.
struct Pass {
    uint64_t engine, began, ended;
    Moves streams[MOST_STREAMS];
    Crossed read, write;
};

struct Counters {
    uint64_t cycles, busy, outside, outside_address;
    uint64_t faults, rule, fault_cycle;  // broken rules of AXI4; the first one, as in bus.py
    uint64_t window;                     // cycles of a window
    Direction read, write;
};

enum Rule { READ_CHANGED = 1, WRITE_CHANGED, BEAT_CHANGED, CROSSED_4_KIB, NOT_WHOLE_INCR, WRONG_LAST };

// The payload of a channel whose valid is high and whose ready is low: it must stay.
struct Held {
    bool valid = false;
    std::array<uint64_t, 5> payload{};
};

static void clear(Direction& direction) {
    const uint64_t waiting = direction.waiting;
    direction = {};
    direction.waiting = waiting;
    direction.latency_least = NONE;
}

static void answer(Direction& direction, std::deque<uint64_t>& since, uint64_t now) {
    if (since.empty()) return;  // nothing was requested; the memory never does this
    const uint64_t latency = now - since.front();
    since.pop_front();
    ++direction.answered;
    direction.latency_sum += latency;
    if (latency < direction.latency_least) direction.latency_least = latency;
    if (latency > direction.latency_most) direction.latency_most = latency;
}

struct Board {
    VerilatedContext context;
    Vmerp_board model{&context};
    Banks memory = banks(model.rootp);
    Counters counters{};
    uint64_t cycle = 0;
    std::deque<uint64_t> reads, writes;  // cycles of the requests that wait for an answer
    std::deque<std::pair<unsigned, unsigned>> writers;  // ID and missing beats of each write
    Held read_held, write_held, beat_held;
    bool first = true;                   // the next beat of R is the first one of its burst
    std::vector<Pass> passes;
    std::array<int64_t, MOST_ENGINES> latest;  // the pass of each engine that began last, or -1
    uint64_t beginning = 0;                    // the engines that began in the cycle before
    uint64_t opened = 0;                       // banks whose row has had no access since ACTIVATE

    Board() { latest.fill(-1); }

    ~Board() { model.final(); }

    // Verilator keeps a pointer to a context in each thread, also to one that is gone.
    void enter() { Verilated::threadContextp(&context); }

    void settle() {
        model.clk = 0;
        model.eval();
        count();
        follow();
        if (model.commands) access(model.commands);
    }

    // The first access to a row after its ACTIVATE is a miss, the next ones are hits. The phases of
    // a cycle follow each other.
    void access(uint64_t commands) {
        for (int phase = 0; phase < PHASES; ++phase, commands >>= COMMAND_BITS) {
            const uint64_t bank = commands >> (COMMAND_BITS - BANK_BITS) & ((1 << BANK_BITS) - 1);
            const uint64_t mark = uint64_t{1} << bank;
            const bool read = commands >> READ & 1, write = commands >> WRITE & 1;
            if (commands >> ACTIVATE & 1) opened |= mark;
            if (!read && !write) continue;
            Direction& direction = read ? counters.read : counters.write;
            ++(opened & mark ? direction.row_misses : direction.row_hits);
            opened &= ~mark;
        }
    }

    void carry(Direction& direction, uint64_t bytes) {
        ++direction.beats;
        direction.bytes += bytes;
        direction.windows[counters.cycles / counters.window] += bytes;
    }

    // Twice as long windows, so that there is always one for the next cycle.
    void widen() {
        counters.window *= 2;
        for (Direction* direction : {&counters.read, &counters.write}) {
            uint64_t* const windows = direction->windows;
            for (uint64_t i = 0; i < WINDOWS / 2; ++i) {
                windows[i] = windows[2 * i] + windows[2 * i + 1];
            }
            for (uint64_t i = WINDOWS / 2; i < WINDOWS; ++i) windows[i] = 0;
        }
    }

    void follow() {
        const uint64_t starts = begins(model);
        if (starts) begin(starts);
        beginning = starts;
        uint64_t ended = ends(model);
        for (int engine = 0; ended; ++engine, ended >>= 1) {
            if (!(ended & 1) || latest[engine] < 0) continue;
            Pass& pass = passes[latest[engine]];
            if (pass.ended == NONE) pass.ended = cycle - pass.began;
        }
        for (int i = 0; i < STREAMS; ++i) {
            const uint64_t elements = moves(model, i);
            if (elements) move(i, elements);
        }
    }

    // A start can stay on the bus for several cycles; the last one counts.
    void begin(uint64_t starts) {
        for (int engine = 0; engine < MOST_ENGINES; ++engine) {
            if (!(starts >> engine & 1)) continue;
            if (!(beginning >> engine & 1)) {
                latest[engine] = passes.size();
                passes.push_back({});
            }
            passes[latest[engine]] = {uint64_t(engine), cycle, NONE, {}, {}, {}};
        }
    }

    // A pass ends when memory owes it nothing, so a beat belongs to the pass that began last.
    // Engines share IDs, so it must not count for an earlier pass of another engine.
    void cross(Crossed Pass::*way, unsigned id, uint64_t bytes) {
        if (passes.empty() || id >= MOST_IDS) return;
        Crossed& crossed = passes.back().*way;
        ++crossed.beats[id];
        crossed.bytes[id] += bytes;
    }

    void move(int stream, uint64_t elements) {
        for (const int64_t place : latest) {
            if (place < 0) continue;
            Pass& pass = passes[place];
            Moves& moved = pass.streams[stream];
            moved.last = cycle - pass.began;
            if (!moved.words) moved.first = moved.last;
            moved.words += elements;
        }
    }

    void edge() {
        model.clk = 1;
        model.eval();
        ++cycle;
        if (++counters.cycles == WINDOWS * counters.window) widen();
    }

    void request(Direction& direction, std::deque<uint64_t>& since, uint64_t address,
                 unsigned length) {
        ++direction.bursts[length + 1];
        ++direction.waiting;
        since.push_back(cycle);
        if (address + (length + 1) * BEAT_BYTES > SIZE && !counters.outside++) {
            counters.outside_address = address;
        }
    }

    void fault(Rule rule) {
        if (counters.faults++) return;
        counters.rule = rule;
        counters.fault_cycle = cycle;
    }

    void hold(Held& held, bool valid, bool ready, const std::array<uint64_t, 5>& now, Rule rule) {
        if (held.valid && !(valid && held.payload == now)) fault(rule);
        held = {valid && !ready, now};
    }

    // Requests and beats stay until their transfer; bursts have whole beats and stay within 4 KiB.
    void check() {
        hold(read_held, model.m_axi_arvalid, model.m_axi_arready,
             {model.m_axi_arid, model.m_axi_araddr, model.m_axi_arlen, model.m_axi_arsize,
              model.m_axi_arburst},
             READ_CHANGED);
        hold(write_held, model.m_axi_awvalid, model.m_axi_awready,
             {model.m_axi_awid, model.m_axi_awaddr, model.m_axi_awlen, model.m_axi_awsize,
              model.m_axi_awburst},
             WRITE_CHANGED);
        hold(beat_held, model.m_axi_wvalid, model.m_axi_wready,
             {model.m_axi_wlast, model.m_axi_wstrb}, BEAT_CHANGED);
    }

    void check_burst(uint64_t address, unsigned length, unsigned size, unsigned kind) {
        const uint64_t last = address + (length + 1) * BEAT_BYTES - 1;
        if (address / 4096 != last / 4096) fault(CROSSED_4_KIB);
        if (kind != 1 || uint64_t{1} << size != BEAT_BYTES || address % BEAT_BYTES) {
            fault(NOT_WHOLE_INCR);
        }
    }

    void count() {
        check();
        Direction &read = counters.read, &write = counters.write;
        const bool reading = read.waiting || model.m_axi_arvalid;
        const bool writing = write.waiting || model.m_axi_awvalid;
        if (!reading && !writing) return;
        ++counters.busy;
        read.busy += reading;
        write.busy += writing;
        if (model.m_axi_rvalid && model.m_axi_rready) {
            carry(read, BEAT_BYTES);
            cross(&Pass::read, model.m_axi_rid, BEAT_BYTES);
            if (first) answer(read, reads, cycle);
            first = model.m_axi_rlast;
            read.waiting -= first;
        }
        if (model.m_axi_awvalid && model.m_axi_awready) {
            request(write, writes, model.m_axi_awaddr, model.m_axi_awlen);
            check_burst(model.m_axi_awaddr, model.m_axi_awlen, model.m_axi_awsize,
                        model.m_axi_awburst);
            writers.emplace_back(model.m_axi_awid, model.m_axi_awlen + 1);
        }
        if (model.m_axi_wvalid && model.m_axi_wready) {
            const uint64_t bytes = __builtin_popcountll(model.m_axi_wstrb);
            carry(write, bytes);
            if (writers.empty()) {
                fault(WRONG_LAST);  // a beat without a request; our movers never send one
            } else {
                cross(&Pass::write, writers.front().first, bytes);
                if (model.m_axi_wlast != (--writers.front().second == 0)) fault(WRONG_LAST);
                if (model.m_axi_wlast) writers.pop_front();
            }
        }
        if (model.m_axi_bvalid && model.m_axi_bready) {
            answer(write, writes, cycle);
            --write.waiting;
        }
        if (model.m_axi_arvalid && model.m_axi_arready) {
            request(read, reads, model.m_axi_araddr, model.m_axi_arlen);
            check_burst(model.m_axi_araddr, model.m_axi_arlen, model.m_axi_arsize,
                        model.m_axi_arburst);
        }
    }

    void reset() {
        model.rst = 1;
        model.s_axi_awvalid = model.s_axi_wvalid = model.s_axi_arvalid = 0;
        model.s_axi_bready = model.s_axi_rready = 1;
        model.s_axi_wstrb = 0xf;
        reads.clear();
        writes.clear();
        writers.clear();
        read_held = write_held = beat_held = {};
        first = true;
        opened = 0;
        for (int i = 0; i < RESET_CYCLES; ++i) {
            model.clk = 0;
            model.eval();
            edge();
        }
        model.rst = 0;
        counters.read.waiting = counters.write.waiting = 0;
    }

    // The part of a row that holds a byte, and how many bytes of it follow.
    uint8_t* place(uint64_t address, uint64_t& left) {
        const uint64_t row = address / ROW_BYTES, column = address % ROW_BYTES;
        left = ROW_BYTES - column;
        return memory[row % memory.size()] + row / memory.size() * ROW_BYTES + column;
    }

    template <typename Copy>
    void copy(uint64_t address, uint8_t* bytes, uint64_t size, Copy part_of) {
        while (size) {
            uint64_t part;
            uint8_t* const found = place(address, part);
            if (part > size) part = size;
            part_of(found, bytes, part);
            address += part;
            bytes += part;
            size -= part;
        }
    }
};

extern "C" {

Board* board_new() {
    auto* board = new Board;
    board->counters.window = FIRST_WINDOW;
    clear(board->counters.read);
    clear(board->counters.write);
    board->reset();
    return board;
}

void board_delete(Board* board) {
    board->enter();
    delete board;
}

void board_reset(Board* board) {
    board->enter();
    board->reset();
}

uint64_t board_cycle(const Board* board) { return board->cycle; }

const Counters* board_counters(const Board* board) { return &board->counters; }

void board_clear(Board* board) {
    Counters& counters = board->counters;
    counters.cycles = counters.busy = counters.outside = counters.outside_address = 0;
    counters.faults = counters.rule = counters.fault_cycle = 0;
    counters.window = FIRST_WINDOW;
    clear(counters.read);
    clear(counters.write);
    board->passes.clear();
    board->latest.fill(-1);
}

uint64_t board_passes(const Board* board) { return board->passes.size(); }

const Pass* board_pass(const Board* board, uint64_t number) { return &board->passes[number]; }

// The response of a read, or -1 if there is none within `limit` cycles.
int board_read(Board* board, uint32_t address, uint32_t* value, uint64_t limit) {
    board->enter();
    auto& model = board->model;
    model.s_axi_araddr = address;
    model.s_axi_arvalid = 1;
    for (; limit; --limit) {
        board->settle();
        const bool taken = model.s_axi_arvalid && model.s_axi_arready;
        const bool answered = model.s_axi_rvalid;
        const int response = model.s_axi_rresp;
        *value = model.s_axi_rdata;
        board->edge();
        if (taken) model.s_axi_arvalid = 0;
        if (answered) return response;
    }
    model.s_axi_arvalid = 0;
    return -1;
}

// The same of a write.
int board_write(Board* board, uint32_t address, uint32_t value, uint64_t limit) {
    board->enter();
    auto& model = board->model;
    model.s_axi_awaddr = address;
    model.s_axi_wdata = value;
    model.s_axi_awvalid = model.s_axi_wvalid = 1;
    for (; limit; --limit) {
        board->settle();
        const bool announced = model.s_axi_awready, taken = model.s_axi_wready;
        const bool answered = model.s_axi_bvalid;
        const int response = model.s_axi_bresp;
        board->edge();
        if (announced) model.s_axi_awvalid = 0;
        if (taken) model.s_axi_wvalid = 0;
        if (answered) return response;
    }
    model.s_axi_awvalid = model.s_axi_wvalid = 0;
    return -1;
}

// Run until the interrupt, or for `limit` cycles; whether there is an interrupt.
int board_wait(Board* board, uint64_t limit) {
    board->enter();
    for (; limit && !board->model.irq; --limit) {
        board->settle();
        board->edge();
    }
    return board->model.irq;
}

void board_store(Board* board, uint64_t address, uint8_t* bytes, uint64_t size) {
    board->copy(address, bytes, size,
                [](uint8_t* there, uint8_t* here, uint64_t part) { memcpy(there, here, part); });
}

void board_load(Board* board, uint64_t address, uint8_t* bytes, uint64_t size) {
    board->copy(address, bytes, size,
                [](uint8_t* there, uint8_t* here, uint64_t part) { memcpy(here, there, part); });
}

}  // extern "C"
