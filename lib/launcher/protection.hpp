#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "launcher/failure.hpp"
#include "launcher/masks.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// Sees to it that what the rules deny is covered when a command starts, whatever the host did since the last one. A
/// rename over a mounted-on file detaches the mount (mount_namespaces(7)), and a denied name that did not exist may
/// exist now. Looks at every denied place: two system calls each.
class Protection {
  public:
    /// In the cell, after its files are laid out. `plan` and `masks` must outlive it.
    [[nodiscard]] Outcome prepare(const wire::SessionPlan& plan, const Masks& masks);

    struct Renewal {
        bool renewed = false;  ///< mounts were added: only inits made from now on have them
        Outcome failure;       ///< something cannot be covered: no command may start
    };
    [[nodiscard]] Renewal renew() const;

  private:
    enum class Cover : std::uint8_t { mask, read_only };
    enum class State : std::uint8_t { missing, covered, bare, link };
    struct Place {
        std::string path;
        Cover cover = Cover::read_only;
        bool has_holes = false;  // something below it is granted again
    };

    [[nodiscard]] int look(const Place& place, State& state) const;
    [[nodiscard]] int cover_again(const Place& place) const;

    const Masks* masks_ = nullptr;
    dev_t mask_device_ = 0;
    std::vector<Place> places_;
};

}  // namespace sandpipe::launcher
