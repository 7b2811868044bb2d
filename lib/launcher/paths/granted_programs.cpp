#include "launcher/paths/granted_programs.hpp"

#include <sys/stat.h>

namespace sandpipe::launcher {

void GrantedPrograms::add(const std::string& place, int object) {
    struct stat status {};
    if (::fstat(object, &status) == 0 && S_ISREG(status.st_mode)) files_[place] = {status.st_dev, status.st_ino};
}

bool GrantedPrograms::is_replaced(const std::string& place) const {
    const auto known = files_.find(place);
    struct stat status {};
    if (known == files_.end() || ::stat(place.c_str(), &status) < 0) return false;
    return known->second != std::pair(status.st_dev, status.st_ino);
}

}  // namespace sandpipe::launcher
