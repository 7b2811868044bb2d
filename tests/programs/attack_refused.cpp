// attack_refused PATH ROUNDS MODE: writes "aN", makes a call that is refused, writes "bN" to stdout and "cN"
// to stderr. quiet and flood: only the calls; threads: only the calls, by 32 threads; noisy: with a thread
// that floods stderr.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

static std::atomic<bool> g_over{false};

static void say(int fd, char what, int round) {
    const std::string text = std::string(1, what) + std::to_string(round) + "\n";
    if (::write(fd, text.data(), text.size()) < 0) _exit(3);
}

static void rounds(const char* path, int count, bool speaks) {
    for (int i = 0; i < count; ++i) {
        if (speaks) say(1, 'a', i);
        if (::open(path, O_CREAT | O_WRONLY, 0644) >= 0) _exit(4);
        if (speaks) say(1, 'b', i);
        if (speaks) say(2, 'c', i);
    }
}

static void make_noise() {
    const std::string noise(4096, '.');
    while (!g_over) {
        if (::write(2, noise.data(), noise.size()) < 0) return;
        if (::write(1, ".", 1) < 0) return;
    }
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::string mode = argv[3];
    std::vector<std::thread> threads;
    if (mode == "threads")
        for (int i = 0; i < 32; ++i) threads.emplace_back(rounds, argv[1], atoi(argv[2]), false);
    else if (mode == "noisy")
        threads.emplace_back(make_noise);
    if (mode != "threads") rounds(argv[1], atoi(argv[2]), mode == "noisy" || mode == "speaking");
    g_over = true;
    for (std::thread& thread : threads) thread.join();
}
