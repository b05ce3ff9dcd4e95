/* Driver of an accelerator that trains from memory: freestanding C99, without malloc.
 *
 * The arrays of a step, its records and its lists are in one arena of memory. The processor sees
 * it at `memory`, the accelerator at `address`. system.h names arrays, layers, lists and settings,
 * and has the tables from which the lists are encoded. The processor must be little endian.
 *
 *     struct merp m = {0, read32, write32, flush, invalidate, now, memory, address, bytes, 0};
 *     int error = merp_open(&m);
 *     ... write merp_array(&m, MERP_ARRAY_IMAGES), then merp_to_device(&m, MERP_ARRAY_IMAGES) ...
 *     if (!error)
 *         error = merp_run(&m, MERP_LIST_STEP, ticks, MERP_BY_POLLING);
 */
#ifndef MERP_H
#define MERP_H

#include <stdint.h>

/* Results of functions. */
enum merp_error {
    MERP_OK,
    MERP_OTHER_DESIGN,  /* the hardware is not the one of system.h */
    MERP_MEMORY,        /* the arena is too small, not aligned, or beyond 32 bits of address */
    MERP_TIME,          /* the list did not end within the limit */
    MERP_FAILED,        /* the list failed: merp_cause has the reason */
    MERP_NO_SETTING,    /* no pass of this layer has the setting */
    MERP_NOT_WIRED,     /* the list ended, but no interrupt came: poll */
    MERP_STUCK          /* the interrupt is high without a list */
};

/* Ways to wait for the end of a list. */
enum merp_way { MERP_BY_POLLING, MERP_BY_INTERRUPT };

/* An accelerator. The user fills all members; `came` with 0. */
struct merp {
    void *context; /* given to each function below */
    uint32_t (*read32)(void *context, uint32_t offset); /* a register, by its byte offset */
    void (*write32)(void *context, uint32_t offset, uint32_t value);
    /* Bytes of the arena from an offset on: write them from the cache to memory, or let the next
     * read of the processor get them from memory. */
    void (*flush)(void *context, uint32_t offset, uint32_t bytes);
    void (*invalidate)(void *context, uint32_t offset, uint32_t bytes);
    uint32_t (*now)(void *context); /* a clock in ticks, which may wrap around */
    void *memory;                   /* the arena, aligned to MERP_ALIGN bytes */
    uint32_t address;               /* its address on the bus of the accelerator */
    uint32_t bytes;                 /* its size, at least MERP_BYTES */
    volatile uint32_t came;         /* whether merp_interrupt was called since the last ring */
};

/* Why a list ended, or its state while it runs. */
struct merp_cause {
    uint32_t failure; /* MERP_FAILURE_... */
    uint32_t command; /* number of the command, the first one is 1 */
    uint32_t pass;    /* index of its pass in the list */
    uint32_t waiting; /* mask of the streams that it waits for, by MERP_STREAM_... */
    uint32_t stream;  /* after MERP_FAILURE_MEMORY: stream with the error, */
    uint32_t address; /* and address of its burst, bits 31 to 0 */
    uint32_t cycles;  /* cycles of the list, modulo 2^32 */
};

/* Check hardware and arena, and write all lists. Errors: MERP_OTHER_DESIGN, MERP_MEMORY. */
int merp_open(const struct merp *m);

/* Array `array` for the processor. */
void *merp_array(const struct merp *m, int array);

/* Bring an array from the cache to memory, after the processor wrote it. */
void merp_to_device(const struct merp *m, int array);

/* Let the processor read an array from memory, after the accelerator wrote it. */
void merp_from_device(const struct merp *m, int array);

/* Change a setting of the update of a layer in a list. Errors: MERP_NO_SETTING. */
int merp_set(const struct merp *m, int list, int layer, int update, uint32_t value);

/* Start a list. */
void merp_ring(struct merp *m, int list);

/* Wait for its end, at most `ticks`. Errors: MERP_TIME, MERP_FAILED. */
int merp_wait(struct merp *m, uint32_t ticks, enum merp_way way);

/* Start a list and wait, as merp_ring and merp_wait. */
int merp_run(struct merp *m, int list, uint32_t ticks, enum merp_way way);

{% if loader %}
/* Return whether the last list asks for a bitstream, and {{ "its number" if loader == "host" else "the word for WBSTAR that boots it" }}. Load
 * it, and go on with its driver: merp_open there checks the hardware. */
int merp_load(const struct merp *m, uint32_t *bitstream);

{% endif %}
/* The user's interrupt handler calls this function. */
void merp_interrupt(struct merp *m);

/* Read why a list ended. */
void merp_cause(const struct merp *m, int list, struct merp_cause *cause);

/* The name of a failure, and of a stream. */
const char *merp_failure_name(uint32_t failure);
const char *merp_stream_name(uint32_t stream);

/* End a list early. Memory owes nothing after MERP_OK. Errors: MERP_TIME. */
int merp_abort(struct merp *m, uint32_t ticks);

/* Check every engine by a short list, and whether its interrupt comes. The first list is written
 * again, as by merp_open. Errors: MERP_OTHER_DESIGN, MERP_NOT_WIRED, MERP_STUCK, MERP_TIME,
 * MERP_FAILED. */
int merp_self_test(struct merp *m, uint32_t ticks);

#endif
