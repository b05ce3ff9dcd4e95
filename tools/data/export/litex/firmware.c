/* Firmware of a system that trains by itself: it prints loss, accuracy and a checksum of each
 * epoch on the UART, and at the end all parameters. */
#include <stddef.h>

#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/sdram_phy.h>
#include <generated/soc.h>
#include <irq.h>

#include "../driver/merp.h"
#include "../driver/system.h"
#include "examples.h"

#define TICKS 1000000u /* cycles that a list may take */
#define END_OF_OUTPUT '\4'

static void put_char(char c)
{
    while (uart_txfull_read())
        ;
    uart_rxtx_write(c);
}

static void put_text(const char *text)
{
    while (*text)
        put_char(*text++);
}

static void put_number(uint32_t value)
{
    char digits[11], *at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = '0' + value % 10;
        value /= 10;
    } while (value);
    put_text(at);
}

static void put_hex(uint32_t value, int digits)
{
    while (digits--)
        put_char("0123456789abcdef"[value >> 4 * digits & 15]);
}

/* The interface of the driver. */

static uint32_t read32(void *context, uint32_t offset)
{
    return *(volatile uint32_t *)((char *)context + offset);
}

static void write32(void *context, uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)((char *)context + offset) = value;
}

/* The cache of the processor writes through. */
static void flush(void *context, uint32_t offset, uint32_t bytes)
{
    (void)context, (void)offset, (void)bytes;
}

static void invalidate(void *context, uint32_t offset, uint32_t bytes)
{
    (void)context, (void)offset, (void)bytes;
    flush_cpu_dcache();
}

static uint32_t now(void *context)
{
    (void)context;
    timer0_update_value_write(1);
    return ~timer0_value_read(); /* it counts down */
}

static struct merp accelerator = {
    .context = (void *)MERP_BASE,
    .read32 = read32,
    .write32 = write32,
    .flush = flush,
    .invalidate = invalidate,
    .now = now,
    .memory = (void *)(MAIN_RAM_BASE + MERP_ADDRESS),
    .address = MERP_ADDRESS,
    .bytes = MERP_BYTES,
};

void isr(void);
void isr(void)
{
    if (irq_pending() & 1u << MERP_INTERRUPT)
        merp_interrupt(&accelerator);
}

static void check(const char *work, int error)
{
    struct merp_cause cause;
    if (!error)
        return;
    merp_cause(&accelerator, MERP_LIST_STEP, &cause);
    put_text("error: ");
    put_text(work);
    put_text(": ");
    put_number(error);
    put_text(", ");
    put_text(merp_failure_name(cause.failure));
    put_text(" at command ");
    put_number(cause.command);
    put_char('\n');
    put_char(END_OF_OUTPUT);
    for (;;)
        ;
}

static void copy(int array, uint32_t offset, const uint16_t *words, uint32_t count)
{
    volatile uint16_t *to = (uint16_t *)merp_array(&accelerator, array) + offset;
    while (count--)
        *to++ = *words++;
    merp_to_device(&accelerator, array);
}

static void set(int layer, int update, uint32_t value)
{
    check("rate", merp_set(&accelerator, MERP_LIST_STEP, layer, update, value));
}

/* Set the learning rate; without it, a step changes no parameter. */
static void set_rate(int learns)
{
    uint32_t i;
    for (i = 0; i < RATES; i++) {
        set(rates[i].layer, MERP_UPDATE_RATE, learns ? rates[i].mantissa : 0);
        set(rates[i].layer, MERP_UPDATE_UPDATE_SHIFT, rates[i].shift);
    }
}

static const int16_t *scores_of(uint32_t image)
{
    return (const int16_t *)merp_array(&accelerator, SCORES) + image * IMAGE_SCORES;
}

/* Squared hinge loss of an image, in units of 1 / (ONE * ONE). */
static uint64_t loss_of(const int16_t *scores, uint32_t class)
{
    uint64_t sum = 0;
    uint32_t i;
    for (i = 0; i < CLASSES; i++) {
        int32_t score = scores[i * CLASS_SCORES];
        int32_t margin = ONE - (i == class ? score : -score);
        if (margin > 0)
            sum += (uint64_t)((uint32_t)margin) * (uint32_t)margin;
    }
    return sum;
}

static uint32_t class_of(const int16_t *scores)
{
    uint32_t best = 0, i;
    for (i = 1; i < CLASSES; i++)
        if (scores[i * CLASS_SCORES] > scores[best * CLASS_SCORES])
            best = i;
    return best;
}

struct sums {
    uint64_t loss;
    uint32_t right, cycles;
};

/* Run all steps of an epoch, with the images in this order. */
static struct sums run(const uint8_t *order)
{
    struct sums found = {0, 0, 0};
    uint32_t at, i, begin = now(NULL);
    for (at = 0; at + STEP_IMAGES <= EXAMPLES; at += STEP_IMAGES) {
        for (i = 0; i < STEP_IMAGES; i++) {
            uint32_t example = order[at + i];
            copy(MERP_ARRAY_IMAGES, i * IMAGE_WORDS, images[example], IMAGE_WORDS);
            copy(MERP_ARRAY_TARGETS, i, &classes[example], 1);
        }
        check("step", merp_run(&accelerator, MERP_LIST_STEP, TICKS, MERP_BY_INTERRUPT));
        merp_from_device(&accelerator, SCORES);
        for (i = 0; i < STEP_IMAGES; i++) {
            uint32_t class = classes[order[at + i]];
            found.loss += loss_of(scores_of(i), class);
            found.right += class_of(scores_of(i)) == class;
        }
    }
    found.cycles = now(NULL) - begin;
    return found;
}

/* A word of parameters; places without a parameter have any value, and count as 0. */
static uint32_t parameter(uint32_t array, uint32_t at)
{
    const uint16_t *words = merp_array(&accelerator, parameters[array].array);
    return parameters[array].used[at / 8] >> at % 8 & 1 ? words[at] : 0;
}

/* Hash FNV-1a of all parameters, word by word. */
static uint32_t checksum(void)
{
    uint32_t hash = 2166136261u, i, at;
    for (i = 0; i < PARAMETERS; i++) {
        merp_from_device(&accelerator, parameters[i].array);
        for (at = 0; at < parameters[i].count; at++)
            hash = (hash ^ parameter(i, at)) * 16777619u;
    }
    return hash;
}

static void put_epoch(uint32_t epoch, const struct sums *trained, uint32_t right)
{
    uint64_t millionths = trained->loss * 1000000u / ((uint64_t)ONE * ONE * EXAMPLES);
    uint32_t part = millionths % 1000000u, place;
    put_text("epoch ");
    put_number(epoch + 1);
    put_text(": loss ");
    put_number(millionths / 1000000u);
    put_char('.');
    for (place = 100000; place; place /= 10)
        put_char('0' + part / place % 10);
    put_text(", right ");
    put_number(right);
    put_text(" of ");
    put_number(EXAMPLES);
    put_text(", checksum ");
    put_hex(checksum(), 8);
    put_text(", cycles ");
    put_number(trained->cycles);
    put_char('\n');
}

static void put_parameters(void)
{
    uint32_t i, at;
    for (i = 0; i < PARAMETERS; i++) {
        put_text("array ");
        put_text(parameters[i].name);
        put_char(' ');
        for (at = 0; at < parameters[i].count; at++)
            put_hex(parameter(i, at), 4);
        put_char('\n');
    }
}

static void begin(void)
{
    sdram_dfii_control_write(DFII_CONTROL_CKE | DFII_CONTROL_ODT | DFII_CONTROL_RESET_N);
    init_sequence();
    sdram_dfii_control_write(DFII_CONTROL_SEL);
    timer0_en_write(0);
    timer0_reload_write(0xffffffffu);
    timer0_load_write(0xffffffffu);
    timer0_en_write(1);
    merp_ev_enable_write(1);
    irq_setmask(irq_getmask() | 1u << MERP_INTERRUPT);
    irq_setie(1);
}

int main(void)
{
    uint32_t epoch, right = 0, i;
    begin();
    put_text("merp: " TITLE "\n");
    check("open", merp_open(&accelerator));
    check("self-test", merp_self_test(&accelerator, TICKS));
    for (i = 0; i < PARAMETERS; i++)
        copy(parameters[i].array, 0, parameters[i].initial, parameters[i].count);
    for (epoch = 0; epoch < EPOCHS && right < EXAMPLES; epoch++) {
        struct sums trained;
        set_rate(1);
        trained = run(orders[epoch]);
        set_rate(0);
        right = run(orders[epoch]).right;
        put_epoch(epoch, &trained, right);
    }
    put_parameters();
    put_text("end\n");
    put_char(END_OF_OUTPUT);
    for (;;)
        ;
}
