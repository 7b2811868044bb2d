// open_files COUNT PATH: opens the file that often for reading, and reads a little.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    char bytes[64];
    if (argc != 3) return 2;
    for (int i = atoi(argv[1]); i > 0; --i) {
        const int file = open(argv[2], O_RDONLY | O_CLOEXEC);
        if (file < 0 || read(file, bytes, sizeof bytes) < 0) return 1;
        close(file);
    }
    return 0;
}
