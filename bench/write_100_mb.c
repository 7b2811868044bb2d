/* 100,000,000 bytes to stdout, in writes of 64 KiB. */
#include <unistd.h>

int main(void) {
    static char block[64 * 1024];
    long left = 100000000;
    while (left > 0) {
        const long size = left < (long)sizeof block ? left : (long)sizeof block;
        const long written = write(1, block, (unsigned long)size);
        if (written < 0) return 1;
        left -= written;
    }
    return 0;
}
