#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "launcher/failure.hpp"
#include "launcher/glob_watch.hpp"
#include "launcher/masks.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// Sees to it that what the rules deny is covered when a command starts, whatever the host did since the last
/// one. A rename over a mounted-on file detaches the mount (mount_namespaces(7)), and a denied name that did
/// not exist may exist now. Looks at every place that is denied by its name, two system calls each, and at
/// what has come to names that a glob denies.
class Protection {
  public:
    /// In the cell, after its files are laid out, and before there is any init: covers what appeared in
    /// between. `plan` and `masks` must outlive it.
    [[nodiscard]] Outcome prepare(const wire::SessionPlan& plan, const Masks& masks);

    struct Renewal {
        bool renewed = false;  ///< mounts were added: only inits made from now on have them
        Outcome failure;       ///< something cannot be covered: no command may start
    };
    [[nodiscard]] Renewal renew();

  private:
    enum class Cover : std::uint8_t { mask, read_only, read_only_file };  // the last leaves directories alone
    enum class State : std::uint8_t { missing, covered, bare, link };
    struct Place {
        std::string path;
        Cover cover = Cover::read_only;
        bool has_holes = false;  // something below it is granted again
    };

    void check(const Place& place, Renewal& renewal) const;
    void check_match(const std::string& path, Renewal& renewal) const;
    [[nodiscard]] bool holds_granted(const std::string& place) const;
    [[nodiscard]] int look(const Place& place, State& state) const;
    [[nodiscard]] int cover_again(const Place& place) const;

    const Masks* masks_ = nullptr;
    dev_t mask_device_ = 0;
    std::vector<Place> places_;
    const wire::AccessRules* rules_ = nullptr;
    std::vector<std::string> granted_;
    GlobWatch globs_;
};

}  // namespace sandpipe::launcher
