/* Driver of an accelerator that trains from memory; merp.h describes its functions. */
#include "merp.h"
#include "system.h"

/* A word of a list. `volatile`: no compiler makes a call of memcpy of these writes. */
typedef volatile uint32_t word;

static word *arena(const struct merp *m, uint32_t offset)
{
    return (word *)m->memory + offset / 4;
}

static uint32_t read_register(const struct merp *m, uint32_t offset)
{
    return m->read32(m->context, offset);
}

static void write_register(const struct merp *m, uint32_t offset, uint32_t value)
{
    m->write32(m->context, offset, value);
}

/* Encode commands: each function writes one kind from `at` on, and returns the place behind. */

static word *put(word *at, uint32_t operation, uint32_t count, uint32_t place)
{
    *at++ = operation << 24 | count << 16 | place;
    return at;
}

static word *put_write(word *at, uint32_t first, const uint32_t *values, uint32_t left)
{
    while (left) {
        uint32_t count = left < MERP_MOST_WORDS ? left : MERP_MOST_WORDS;
        at = put(at, MERP_OPERATION_WRITE, count, first);
        first += count;
        left -= count;
        while (count--)
            *at++ = *values++;
    }
    return at;
}

static word *put_record(word *at, uint32_t first, uint32_t left)
{
    while (left) {
        uint32_t count = left < MERP_MOST_WORDS ? left : MERP_MOST_WORDS;
        at = put(at, MERP_OPERATION_RECORD, count, first);
        first += count;
        left -= count;
    }
    return at;
}

static word *put_walk(word *at, uint32_t stream, uint32_t base, const uint32_t *shape)
{
    uint32_t i;
    at = put(at, MERP_OPERATION_WALK, MERP_WALK_WORDS, stream);
    *at++ = base;
    *at++ = 0; /* bits 63 to 32 */
    for (i = 0; i < MERP_WALK_WORDS - 2; i++)
        *at++ = shape[i];
    return at;
}

static word *put_start(word *at, uint32_t streams)
{
    at = put(at, MERP_OPERATION_START, 1, 0);
    *at++ = streams;
    return at;
}

static word *put_wait(word *at, uint32_t engines, uint32_t streams, uint32_t limit)
{
    at = put(at, MERP_OPERATION_WAIT, 2, engines);
    *at++ = streams;
    *at++ = limit;
    return at;
}

static word *put_expect(word *at, uint32_t index, uint32_t value)
{
    at = put(at, MERP_OPERATION_EXPECT, 1, index);
    *at++ = value;
    return at;
}

static word *put_pass(const struct merp *m, word *at, const struct merp_pass *pass, uint32_t limit)
{
    static const uint32_t ones[2] = {1, 1};
    const struct merp_engine *engine = &merp_engines[pass->engine];
    uint32_t first = MERP_ENGINE_REGISTERS * pass->engine, streams = 0, i;

    at = put_write(at, first + engine->first_setting, merp_settings + pass->settings,
                   engine->settings);
    at = put_expect(at, first + engine->error, 0);
    at = put_write(at, first + engine->interrupt, ones, 2); /* and its enable */
    for (i = 0; i < pass->walks; i++) {
        const struct merp_walk *walk = &merp_walks[pass->walk + i];
        uint32_t begin = m->address + merp_arrays[walk->array].offset;
        at = put_walk(at, walk->stream, (begin >> walk->shift) + walk->base,
                      merp_shapes[walk->shape]);
        streams |= (uint32_t)1 << walk->stream;
    }
    at = put_write(at, first + engine->control, ones, 1);
    at = put_start(at, streams);
    at = put_wait(at, (uint32_t)1 << pass->engine, streams, limit);
    at = put_record(at, first + engine->status, 1);
    return put_record(at, first + engine->first_counter, engine->counters);
}

static void put_list(const struct merp *m, const struct merp_list *list)
{
    static const uint32_t records = (uint32_t)1 << MERP_STREAM_RECORDS;
    word *at = arena(m, list->offset);
    uint32_t i;

    at = put_walk(at, MERP_STREAM_RECORDS, (m->address + list->records) / 4,
                  merp_shapes[list->shape]);
    at = put_start(at, records);
    for (i = 0; i < list->passes; i++)
        at = put_pass(m, at, &merp_passes[list->pass + i], list->limit);
    at = put_wait(at, 0, records, list->limit);
{% if loader %}
    if (list->load != MERP_NONE) {
        at = put(at, MERP_OPERATION_LOAD, 1, 0);
        *at = list->load;
    } else
        (void)put(at, MERP_OPERATION_END, 0, 0);
{% else %}
    (void)put(at, MERP_OPERATION_END, 0, 0);
{% endif %}
    m->flush(m->context, list->offset, 4 * list->words);
}

int merp_open(const struct merp *m)
{
    uint32_t i;
    if (read_register(m, MEMORY_SUBSYSTEM_IDENT) != MEMORY_SUBSYSTEM_IDENT_VALUE
        || read_register(m, MEMORY_SUBSYSTEM_CONFIGURATION) != MEMORY_SUBSYSTEM_CONFIGURATION_VALUE)
        return MERP_OTHER_DESIGN;
    if (m->bytes < MERP_BYTES || m->address % MERP_ALIGN
        || m->address > UINT32_MAX - (MERP_BYTES - 1))
        return MERP_MEMORY;
    for (i = 0; i < MERP_LISTS; i++)
        put_list(m, &merp_lists[i]);
    return MERP_OK;
}

void *merp_array(const struct merp *m, int array)
{
    return (unsigned char *)m->memory + merp_arrays[array].offset;
}

void merp_to_device(const struct merp *m, int array)
{
    m->flush(m->context, merp_arrays[array].offset, merp_arrays[array].bytes);
}

void merp_from_device(const struct merp *m, int array)
{
    m->invalidate(m->context, merp_arrays[array].offset, merp_arrays[array].bytes);
}

int merp_set(const struct merp *m, int list, int layer, int update, uint32_t value)
{
    const struct merp_list *of = &merp_lists[list];
    int result = MERP_NO_SETTING;
    uint32_t i;

    for (i = of->pass; i < of->pass + of->passes; i++) {
        const struct merp_pass *pass = &merp_passes[i];
        uint32_t setting = merp_engines[pass->engine].updates[update];
        if (!pass->updates || pass->layer != layer || setting == MERP_NONE)
            continue;
        /* A word of a command is in front of every MERP_MOST_WORDS settings. */
        setting += setting / MERP_MOST_WORDS;
        setting = of->offset + 4 * (pass->word + setting);
        *arena(m, setting) = value;
        m->flush(m->context, setting, 4);
        result = MERP_OK;
    }
    return result;
}

static void ring(struct merp *m, uint32_t offset, uint32_t words)
{
    write_register(m, MEMORY_SUBSYSTEM_INTERRUPT, 1);
    m->came = 0;
    write_register(m, MEMORY_SUBSYSTEM_INTERRUPT_ENABLE, 1);
    write_register(m, MEMORY_SUBSYSTEM_LIST_LOW, m->address + offset);
    write_register(m, MEMORY_SUBSYSTEM_LIST_WORDS, words);
    write_register(m, MEMORY_SUBSYSTEM_CONTROL, MEMORY_SUBSYSTEM_CONTROL_START);
}

void merp_ring(struct merp *m, int list)
{
    ring(m, merp_lists[list].offset, merp_lists[list].words);
}

void merp_interrupt(struct merp *m)
{
    write_register(m, MEMORY_SUBSYSTEM_INTERRUPT, 1);
    m->came = 1;
}

static int ended(const struct merp *m, enum merp_way way)
{
    uint32_t status;
    if (way == MERP_BY_INTERRUPT)
        return m->came != 0;
    status = read_register(m, MEMORY_SUBSYSTEM_STATUS);
    status &= MEMORY_SUBSYSTEM_STATUS_DONE | MEMORY_SUBSYSTEM_STATUS_BUSY
              | MEMORY_SUBSYSTEM_STATUS_ABORTING;
    return status == MEMORY_SUBSYSTEM_STATUS_DONE;
}

/* Return whether the list ends within the limit. The clock is read before the state, so that a
 * processor that was busy with other work does not report a list that has ended. */
static int ends(const struct merp *m, uint32_t ticks, enum merp_way way)
{
    uint32_t begin = m->now(m->context), passed;
    do {
        passed = m->now(m->context) - begin;
        if (ended(m, way))
            return 1;
    } while (passed <= ticks);
    return 0;
}

int merp_wait(struct merp *m, uint32_t ticks, enum merp_way way)
{
    if (!ends(m, ticks, way))
        return MERP_TIME;
    write_register(m, MEMORY_SUBSYSTEM_INTERRUPT, 1);
    return read_register(m, MEMORY_SUBSYSTEM_STATUS_FAILURE) ? MERP_FAILED : MERP_OK;
}

int merp_run(struct merp *m, int list, uint32_t ticks, enum merp_way way)
{
    merp_ring(m, list);
    return merp_wait(m, ticks, way);
}

{% if loader %}
int merp_load(const struct merp *m, uint32_t *bitstream)
{
    *bitstream = read_register(m, MEMORY_SUBSYSTEM_STATUS_BITSTREAM);
    return read_register(m, MEMORY_SUBSYSTEM_STATUS_LOAD) != 0;
}

{% endif %}
void merp_cause(const struct merp *m, int list, struct merp_cause *cause)
{
    const struct merp_list *of = &merp_lists[list];
    cause->failure = read_register(m, MEMORY_SUBSYSTEM_STATUS_FAILURE);
    cause->command = read_register(m, MEMORY_SUBSYSTEM_STATUS_COMMANDS);
    cause->waiting = read_register(m, MEMORY_SUBSYSTEM_STATUS_WAITING);
    cause->stream = read_register(m, MEMORY_SUBSYSTEM_STATUS_ERROR_STREAM);
    cause->address = read_register(m, MEMORY_SUBSYSTEM_STATUS_ERROR_ADDRESS);
    cause->cycles = read_register(m, MEMORY_SUBSYSTEM_STATUS_CYCLES);
    cause->pass = 0;
    while (cause->pass + 1 < of->passes
           && merp_passes[of->pass + cause->pass + 1].command <= cause->command)
        cause->pass++;
}

const char *merp_failure_name(uint32_t failure)
{
    return failure < MERP_FAILURES ? merp_failures[failure] : "unknown";
}

const char *merp_stream_name(uint32_t stream)
{
    return stream < MERP_STREAMS ? merp_streams[stream] : "unknown";
}

int merp_abort(struct merp *m, uint32_t ticks)
{
    write_register(m, MEMORY_SUBSYSTEM_CONTROL, MEMORY_SUBSYSTEM_CONTROL_ABORT);
    return ends(m, ticks, MERP_BY_POLLING) ? MERP_OK : MERP_TIME;
}

int merp_self_test(struct merp *m, uint32_t ticks)
{
    const struct merp_list *list = &merp_lists[0]; /* its place is borrowed */
    word *begin = arena(m, list->offset), *at = begin;
    uint32_t i, failure;

    write_register(m, MEMORY_SUBSYSTEM_INTERRUPT, 1);
    m->came = 0;
    write_register(m, MEMORY_SUBSYSTEM_INTERRUPT_ENABLE, 1);
    (void)read_register(m, MEMORY_SUBSYSTEM_STATUS); /* time for an interrupt */
    if (m->came)
        return MERP_STUCK;
    for (i = 0; i < MERP_ENGINES; i++)
        at = put_expect(at, MERP_ENGINE_REGISTERS * i + merp_engines[i].configuration,
                        merp_engines[i].hash);
    at = put(at, MERP_OPERATION_END, 0, 0);
    m->flush(m->context, list->offset, 4 * list->words);
    ring(m, list->offset, (uint32_t)(at - begin));
    if (!ends(m, ticks, MERP_BY_POLLING))
        return MERP_TIME;
    put_list(m, list);
    failure = read_register(m, MEMORY_SUBSYSTEM_STATUS_FAILURE);
    if (failure)
        return failure == MERP_FAILURE_UNEXPECTED ? MERP_OTHER_DESIGN : MERP_FAILED;
    return ends(m, ticks, MERP_BY_INTERRUPT) ? MERP_OK : MERP_NOT_WIRED;
}
