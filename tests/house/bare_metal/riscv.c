/* Start, output and end on the machine `virt`. */
void say(const char *text);
void leave(int status);

void say(const char *text)
{
    while (*text)
        *(volatile char *)0x10000000 = *text++;
}

void leave(int status)
{
    *(volatile unsigned *)0x100000 = status ? (unsigned)status << 16 | 0x3333 : 0x5555;
    for (;;)
        ;
}

__attribute__((naked, section(".vectors"), used)) void begin(void);
void begin(void)
{
    __asm__("la sp, stack_end\n j start");
}
