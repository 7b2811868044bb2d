#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>

namespace sandpipe::launcher {

/// Which file each listed program of a writable place was when the session began. For Landlock a program is a file, so
/// what stands there later under its name is not executed; for a policy it is a name.
class GrantedPrograms {
  public:
    /// Nothing, unless `object` is a regular file.
    void add(const std::string& place, int object);
    /// Whether something else stands at a listed place now.
    [[nodiscard]] bool is_replaced(const std::string& place) const;

  private:
    std::map<std::string, std::pair<dev_t, ino_t>> files_;
};

}  // namespace sandpipe::launcher
