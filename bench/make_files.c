// make_files COUNT DIRECTORY: makes that many small files there and removes each.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    char path[4096];
    if (argc != 3) return 2;
    const int count = atoi(argv[1]);
    for (int i = 0; i < count; ++i) {
        snprintf(path, sizeof path, "%s/file-%d", argv[2], i);
        const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (file < 0 || write(file, "some text\n", 10) != 10 || close(file) < 0) return 1;
    }
    for (int i = 0; i < count; ++i) {
        snprintf(path, sizeof path, "%s/file-%d", argv[2], i);
        if (unlink(path) < 0) return 1;
    }
    return 0;
}
