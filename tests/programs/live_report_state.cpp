// Says what it was started with: its open descriptors, its signals, its process group.
#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

int main() {
    DIR* listing = ::opendir("/proc/self/fd");
    std::set<int> open;
    while (const dirent* entry = ::readdir(listing))
        if (const int fd = std::atoi(entry->d_name); entry->d_name[0] != '.' && fd != ::dirfd(listing)) open.insert(fd);
    ::closedir(listing);
    std::printf("descriptors");
    for (const int fd : open) std::printf(" %d", fd);
    std::printf("\nleads its group: %s\n", ::getpgrp() == ::getpid() ? "yes" : "no");
    char line[256];
    std::FILE* status = std::fopen("/proc/self/status", "r");
    while (status && std::fgets(line, sizeof line, status))
        if (std::strncmp(line, "Sig", 3) == 0 || std::strncmp(line, "ShdPnd", 6) == 0)
            std::fputs(line, stdout);
}
