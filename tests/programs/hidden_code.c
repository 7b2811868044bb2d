/* A library that says so when its code runs. The space is for a table of its parts (tests/support/hidden_code.hpp). */
#include <unistd.h>

__attribute__((section(".rodata"), used)) const char space_for_parts[16 * 56] = "space for program headers";

__attribute__((constructor)) static void run(void) {
    if (write(1, "code ran\n", 9) != 9) _exit(1);
}
