/* The driver on a processor without an accelerator: registers are words that keep their values. */
#include "merp.h"
#include "system.h"

extern void say(const char *text);
extern void leave(int status);

static uint32_t registers[1024], ticks, flushed;
static uint32_t memory[MERP_BYTES / 4 + 1] __attribute__((aligned(MERP_ALIGN)));

static uint32_t read32(void *context, uint32_t offset)
{
    (void)context;
    return registers[offset / 4];
}

static void write32(void *context, uint32_t offset, uint32_t value)
{
    (void)context;
    registers[offset / 4] = value;
}

static void clean(void *context, uint32_t offset, uint32_t bytes)
{
    (void)context;
    (void)offset;
    flushed += bytes;
}

static uint32_t now(void *context)
{
    (void)context;
    return ticks++;
}

static void say_list(uint32_t number)
{
    char text[] = "list 00000000\n";
    const struct merp_list *list = &merp_lists[number];
    uint32_t sum = 0, i;
    for (i = 0; i < list->words; i++)
        sum = 31 * sum + memory[list->offset / 4 + i];
    for (i = 0; i < 8; i++)
        text[5 + i] = "0123456789abcdef"[sum >> (28 - 4 * i) & 15];
    say(text);
}

static int check(int good, const char *text)
{
    if (good)
        say(text);
    return !good;
}

void start(void)
{
    struct merp m = {0, read32, write32, clean, clean, now, memory, MERP_ADDRESS, MERP_BYTES, 0};
    struct merp_cause cause;
    uint32_t i;
    int bad = 0;

    bad |= merp_open(&m) != MERP_OTHER_DESIGN;
    registers[MEMORY_SUBSYSTEM_IDENT / 4] = MEMORY_SUBSYSTEM_IDENT_VALUE;
    registers[MEMORY_SUBSYSTEM_CONFIGURATION / 4] = MEMORY_SUBSYSTEM_CONFIGURATION_VALUE;
    bad |= merp_open(&m) != MERP_OK;
    for (i = 0; i < MERP_LISTS; i++)
        say_list(i);
    registers[MEMORY_SUBSYSTEM_STATUS / 4] = MEMORY_SUBSYSTEM_STATUS_DONE;
    bad |= check(merp_run(&m, 0, 10, MERP_BY_POLLING) == MERP_OK
                 && registers[MEMORY_SUBSYSTEM_LIST_WORDS / 4] == merp_lists[0].words
                 && registers[MEMORY_SUBSYSTEM_LIST_LOW / 4] == MERP_ADDRESS + merp_lists[0].offset,
                 "ring ok\n");
    bad |= check(merp_run(&m, 0, 10, MERP_BY_INTERRUPT) == MERP_TIME, "time ok\n");
    registers[MEMORY_SUBSYSTEM_STATUS_FAILURE / 4] = MERP_FAILURE_TIME;
    registers[MEMORY_SUBSYSTEM_STATUS_COMMANDS / 4] = merp_passes[1].command;
    merp_cause(&m, 0, &cause);
    bad |= check(merp_wait(&m, 10, MERP_BY_POLLING) == MERP_FAILED && cause.pass == 1
                 && cause.failure == MERP_FAILURE_TIME
                 && merp_failure_name(cause.failure)[0] == 't' && flushed, "failed ok\n");
    say("end\n");
    leave(bad);
}
