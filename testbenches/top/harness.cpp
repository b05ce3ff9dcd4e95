// Plays runs on a Verilated top: the protocol of player.py and streams.py, in C++.
//
// The tables of harness.h name the top's ports: config[], inputs[], outputs[], status[], and wires
// to and from other tops: arriving[], leaving[].
// Runs come in on stdin and answers go out on stdout, both as little-endian 64-bit words:
//   run      1, reset_at (all ones: never), limit, window (0: the top is alone), config..., {words,
//            pattern, answered} of each input, pattern of each output, ends of each stream; a list
//            is its length and its elements; 0 ends the job
//   answered index of the output to which a source is the answer (all ones: none), words of it,
//            and words that it gives for them
//   ends     numbers of words with the last of which last goes, the final one among them; none: it
//            goes with that one alone
//   answer   0 progress: cycle, words out;  2 stuck: text, status...;
//            1 outcome: cycles, resets, nanoseconds, {count, first, last} of each stream,
//            words of each output, status..., faults: their number, and each as a text;
//            3 end of a window: leaving... of each of its cycles, moved, done (all ones: not yet);
//            what comes in is arriving... of each cycle of the next one, moved, done
//   text     number of bytes, the bytes
// A build with tracing takes arguments: the top's name, the file of the waveform, and, where every
// signal can be shown, the full names of those that are, or of instances with all that is inside.

#include "harness.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

using Words = std::vector<uint64_t>;
enum Answer : uint64_t { PROGRESS = 0, OUTCOME = 1, STUCK = 2, WINDOW = 3 };
constexpr uint64_t NEVER = ~uint64_t{0};
constexpr uint64_t HALF_PERIOD = 5;  // ns

static VerilatedContext* context;
#if VM_TRACE
static Trace* trace;
constexpr int DEEP = 1000;  // levels of a design
#endif

static uint64_t receive() {
    uint64_t word;
    if (std::fread(&word, sizeof word, 1, stdin) != 1) std::exit(0);  // the caller has gone
    return word;
}

static Words receive(size_t number) {
    Words words(number);
    if (number && std::fread(words.data(), 8, number, stdin) != number) std::exit(0);
    return words;
}

static Words receive_list() { return receive(receive()); }

static void send(uint64_t word) { std::fwrite(&word, sizeof word, 1, stdout); }

static void send(const Words& words) {
    if (!words.empty()) std::fwrite(words.data(), 8, words.size(), stdout);
}

static void send(const std::string& text) {
    send(text.size());
    std::fwrite(text.data(), 1, text.size(), stdout);
}

static void settle() {
    eval();
#if VM_TRACE
    trace->dump(context->time());
#endif
    context->timeInc(HALF_PERIOD);
}

static void edge() {
    clk.set(1);
    settle();
    clk.set(0);
}

struct Run {
    uint64_t reset_at, limit, window;
    Words config;
    std::vector<Words> words, patterns, answers, ends;
};

class Source {
  public:
    Source(const StreamPins& pins, const Words& words, const Words& pattern, const Words& ends)
        : pins(pins), words(words), pattern(pattern), ends(ends.begin(), ends.end()) {}

    void drive(uint64_t t) {
        if (held) return;
        if (next < words.size() && next < known && pattern[t % pattern.size()]) {
            for (size_t lane = 0; lane < pins.data.size(); ++lane) {
                const bool counts = next < words.size();
                pins.data[lane].set(counts ? words[next++] : 0);
                if (pins.keep_bits) pins.keep[lane].set(counts ? ones(pins.keep_bits) : 0);
            }
            pins.valid.set(1);
            pins.last.set(next == words.size() || ends.count(next));
            held = true;
        } else if (released) {
            pins.valid.set(0);
            pins.last.set(0);
        }
        released = false;
    }

    void taken() {
        held = false;
        released = true;
    }

    uint64_t known = NEVER;  // words that can be presented so far

  private:
    const StreamPins& pins;
    const Words &words, &pattern;
    const std::set<uint64_t> ends;
    size_t next = 0;
    bool held = false, released = false;
};

// Parts of so many bits, the lowest first, as Python writes their number.
static std::string binary(const Words& parts, unsigned bits) {
    std::string digits;
    for (const uint64_t part : parts) {
        for (unsigned bit = 0; bit < bits; ++bit) {
            digits.insert(digits.begin(), "01"[part >> bit & 1]);
        }
    }
    const size_t first = digits.find('1');
    return "0b" + (first == std::string::npos ? "0" : digits.substr(first));
}

class Monitor {
  public:
    Monitor(const StreamPins& pins, uint64_t supply, const Words& ends)
        : pins(pins), supply(supply), ends(ends) {}

    bool sample(uint64_t t) {
        const bool valid = pins.valid.get(), ready = pins.ready.get();
        if (ready && count == supply) {
            fault("ready after all " + std::to_string(supply) + " words were taken", t);
        }
        if (!valid) {
            if (waiting) fault("valid fell before the transfer", t);
            waiting = false;
            return false;
        }
        data.clear();
        keep.clear();
        for (const auto& lane : pins.data) data.push_back(lane.get());
        for (const auto& lane : pins.keep) keep.push_back(lane.get());
        const uint64_t end = pins.last.get();
        if (waiting && (data != waiting_data || end != waiting_last || keep != waiting_keep)) {
            fault("data or last changed before the transfer", t);
        }
        waiting = !ready;
        if (!ready) {
            waiting_data = data;
            waiting_last = end;
            waiting_keep = keep;
            return false;
        }
        if (pins.keep_bits) {
            size_t kept = 0;
            while (kept < data.size() && keep[kept] == ones(pins.keep_bits)) ++kept;
            bool gap = false;
            for (size_t lane = kept; lane < keep.size(); ++lane) gap |= keep[lane] != 0;
            if (gap || !kept || (!end && kept < data.size())) {
                fault("keep of a beat is " + binary(keep, pins.keep_bits), t);
            }
            data.resize(kept);
        }
        if (count == 0) first = t;
        last = t;
        count += data.size();
        if (end) lasts.push_back(count);
        if (supply == NEVER) words.insert(words.end(), data.begin(), data.end());
        return true;
    }

    void after_done(uint64_t t) { fault("word after done", t); }

    void finish() {
        if (supply != NEVER) {
            if (count != supply) {
                add(std::to_string(supply - count) + " of " + std::to_string(supply) +
                    " words were not taken");
            }
        } else if (!ends.empty()) {
            if (lasts != ends) add("last must come with the final word of each pass");
        } else if (count && lasts != Words{count}) {
            add("last must come once, with the final word");
        }
    }

    std::string state() const {
        return std::string(pins.name) + " " + std::to_string(count) + " words (valid " +
               std::to_string(pins.valid.get()) + ", ready " + std::to_string(pins.ready.get()) +
               ")";
    }

    uint64_t count = 0, first = NEVER, last = NEVER;
    Words words;
    std::vector<std::string> faults;

  private:
    void add(const std::string& text) { faults.push_back(std::string(pins.name) + ": " + text); }

    void fault(const std::string& text, uint64_t t) {
        if (seen.insert(text).second) add(text + " (cycle " + std::to_string(t) + ")");
    }

    const StreamPins& pins;
    const uint64_t supply;
    const Words& ends;
    bool waiting = false;
    Words data, keep;  // of a beat: kept, so that no cycle asks for memory
    Words waiting_data, waiting_keep, lasts;
    uint64_t waiting_last = 0;
    std::set<std::string> seen;
};

// How far a run is, of the top alone or of all that run together: Alone and Together of border.py.
class Course {
  public:
    explicit Course(uint64_t window) : window(window), come(window * arriving.size()) {}

    void begin(uint64_t t) {
        if (!window) return;
        if (done != NEVER) {
            come.assign(come.size(), 0);  // when all are done nothing is on its way
        } else if (t && t % window == 0) {
            exchange();
        }
        const size_t row = t % window * arriving.size();
        for (size_t i = 0; i < arriving.size(); ++i) arriving[i].set(come[row + i]);
    }

    // The run's last cycle, once that is known. In cycle 0 done still belongs to the run before.
    uint64_t end(uint64_t t, bool moves) {
        if (moves) own_moved = t;
        if (own_done == NEVER && t && ::done.get()) own_done = t;
        if (!window) {
            moved = own_moved;
            return own_done;
        }
        for (const auto& pin : leaving) left.push_back(pin.get());
        return done;
    }

    uint64_t moved = 0;  // the last cycle in which a word is known to have passed

  private:
    void exchange() {
        send(WINDOW);
        send(left);
        send(own_moved);
        send(own_done);
        std::fflush(stdout);
        left.clear();
        come = receive(come.size());
        moved = receive();
        done = receive();
    }

    const uint64_t window;
    Words come, left;
    uint64_t done = NEVER, own_done = NEVER, own_moved = 0;
};

static void quiet() {
    start.set(0);
    for (const auto& stream : inputs) {
        for (const auto& lane : stream.data) lane.set(0);
        for (const auto& lane : stream.keep) lane.set(0);
        stream.valid.set(0);
        stream.last.set(0);
    }
    for (const auto& stream : outputs) stream.ready.set(0);
}

static void reset() {
    rst.set(1);
    for (int cycle = 0; cycle < RESET_CYCLES; ++cycle) {
        settle();
        edge();
    }
}

static std::string join(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

static uint64_t words_out(const std::vector<Monitor>& monitors) {
    uint64_t words = 0;
    for (const auto& monitor : monitors) words += monitor.count;
    return words;
}

// Play a run from start to done and answer it; false if it was reset.
static bool attempt(const Run& run, uint64_t reset_at, uint64_t resets,
                    std::chrono::steady_clock::time_point began) {
    const size_t n_in = inputs.size(), n_out = outputs.size();
    std::vector<Source> sources;
    std::vector<Monitor> in, out;
    for (size_t i = 0; i < n_in; ++i) {
        sources.emplace_back(inputs[i], run.words[i], run.patterns[i], run.ends[i]);
        in.emplace_back(inputs[i], run.words[i].size(), run.ends[i]);
    }
    for (size_t i = 0; i < n_out; ++i) out.emplace_back(outputs[i], NEVER, run.ends[n_in + i]);

    quiet();
    for (size_t i = 0; i < config.size(); ++i) config[i].set(run.config[i]);
    rst.set(0);
    start.set(1);
    Words final_status;
    Course course(run.window);
    uint64_t done = NEVER, end = NEVER;  // the last cycle, and when it was known
    for (uint64_t t = 0;; ++t) {
        for (size_t i = 0; i < n_in; ++i) {
            const Words& answer = run.answers[i];
            if (answer[0] != NEVER) {
                sources[i].known = out[answer[0]].count / answer[1] * answer[2];
            }
            sources[i].drive(t);
        }
        for (size_t i = 0; i < n_out; ++i) {
            const Words& pattern = run.patterns[n_in + i];
            outputs[i].ready.set(pattern[t % pattern.size()]);
        }
        course.begin(t);
        settle();
        bool moved = false;
        for (size_t i = 0; i < n_in; ++i) {
            if (in[i].sample(t)) {
                sources[i].taken();
                moved = true;
            }
        }
        for (auto& monitor : out) {
            if (monitor.sample(t)) {
                moved = true;
                if (end != NEVER) monitor.after_done(t);
            }
        }
        if (end == NEVER) {
            done = course.end(t, moved);
            if (done != NEVER) {
                end = t;
                for (const auto& pin : status) final_status.push_back(pin.get());
            } else if (t == reset_at) {
                edge();
                return false;
            } else if (t - course.moved >= run.limit) {
                std::vector<std::string> streams, pins;
                for (const auto& monitor : in) streams.push_back(monitor.state());
                for (const auto& monitor : out) streams.push_back(monitor.state());
                for (const auto& pin : status) {
                    pins.push_back(std::string(pin.name) + " " + std::to_string(pin.get()));
                }
                send(STUCK);
                send("no word moved for " + std::to_string(run.limit) + " cycles (cycle " +
                     std::to_string(t) + "): " + join(streams) + "; " + join(pins));
                for (const auto& pin : status) send(pin.get());
                return true;
            }
        } else if (t == end + TAIL_CYCLES) {
            break;
        }
        if (t % PROGRESS_CYCLES == 0) {
            send(PROGRESS);
            send(t);
            send(words_out(out));
            std::fflush(stdout);
        }
        edge();
        start.set(0);
    }
    std::vector<std::string> faults;
    for (auto* monitors : {&in, &out}) {
        for (auto& monitor : *monitors) {
            monitor.finish();
            faults.insert(faults.end(), monitor.faults.begin(), monitor.faults.end());
        }
    }
    for (size_t i = 0; i < status.size(); ++i) {
        if (status[i].get() != final_status[i]) {
            faults.push_back(std::string(status[i].name) + " changed after done");
        }
    }
    edge();
    send(OUTCOME);
    send(done);
    send(resets);
    send(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count());
    for (auto* monitors : {&in, &out}) {
        for (const auto& monitor : *monitors) {
            send(monitor.count);
            send(monitor.first);
            send(monitor.last);
        }
    }
    for (const auto& monitor : out) send(monitor.words);
    send(final_status);
    send(faults.size());
    for (const auto& fault : faults) send(fault);
    return true;
}

int main(int argc, char** argv) {
    context = new VerilatedContext;
#if VM_TRACE
    // Ports alone are those of the model, which goes by the top's name then. Else the model has no
    // name, as the top inside of it has that.
    const bool ports_alone = argc == 3;
    make_top(context, ports_alone ? argv[1] : "");
    context->traceEverOn(true);
    trace = new Trace;
    if (ports_alone) trace->dumpvars(1, argv[1]);
    for (int shown = 3; shown < argc; ++shown) trace->dumpvars(DEEP, argv[shown]);
    show(trace, DEEP);
    trace->open(argv[2]);
#else
    make_top(context, "TOP");
#endif
    quiet();
    for (const auto& pin : config) pin.set(0);
    reset();
    while (receive()) {
        Run run;
        run.reset_at = receive();
        run.limit = receive();
        run.window = receive();
        run.config = receive(config.size());
        for (size_t i = 0; i < inputs.size(); ++i) {
            run.words.push_back(receive_list());
            run.patterns.push_back(receive_list());
            run.answers.push_back(receive(3));
        }
        for (size_t i = 0; i < outputs.size(); ++i) run.patterns.push_back(receive_list());
        for (size_t i = 0; i < inputs.size() + outputs.size(); ++i) {
            run.ends.push_back(receive_list());
        }
        const auto began = std::chrono::steady_clock::now();
        if (!attempt(run, run.reset_at, 0, began)) {
            quiet();
            reset();
            attempt(run, NEVER, 1, began);
        }
        std::fflush(stdout);
    }
#if VM_TRACE
    trace->close();
#endif
    return 0;
}
