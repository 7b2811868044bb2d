#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy/mount_layout.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::test {

/// Carries out a plan's mounts on paper, as strictly as a cell does: a step whose mount point is not there,
/// or whose tree was not taken, throws.
class SimulatedMounts {
  public:
    explicit SimulatedMounts(const std::vector<wire::MountOp>& ops) {
        for (const wire::MountOp& op : ops) carry_out(op);
    }

    /// What a command finds at a place that exists on the host.
    [[nodiscard]] View at(std::string_view place) const {
        const wire::MountOp& top = covering(place);
        switch (top.step) {
            case wire::MountStep::place_writable:
                return View::host_writable;
            case wire::MountStep::private_tmp:
                return View::own_tmp;
            case wire::MountStep::mask:
            case wire::MountStep::mask_with_holes:
                return View::masked;
            default:
                return View::host_read_only;
        }
    }

  private:
    using Step = wire::MountStep;

    void carry_out(const wire::MountOp& op) {
        if (op.step == Step::take_tree) {
            expect(mounted_.empty(), "taken after something was mounted", op);
            expect(slots_.insert(op.slot).second, "slot taken twice", op);
            return;
        }
        if (op.step == Step::read_only_root) {
            expect(mounted_.empty(), "not the first mount", op);
        } else {
            expect(mount_point_exists(op), "no mount point", op);
        }
        const bool places = op.step == Step::place_writable || op.step == Step::place_read_only;
        expect(!places || slots_.erase(op.slot) == 1, "nothing in its slot", op);
        expect((op.step == Step::mask_with_holes) ==
                   (!op.holes.empty() && op.step != Step::private_tmp && op.step != Step::private_dev),
               "holes in something without", op);
        expect(op.holes.size() == op.hole_is_directory.size(), "unequal lists of holes", op);
        mounted_.push_back(op);
    }

    [[nodiscard]] bool mount_point_exists(const wire::MountOp& op) const {
        const wire::MountOp& outer = covering(op.path);
        const bool hides = outer.step == Step::mask || outer.step == Step::mask_with_holes ||
                           outer.step == Step::private_tmp || outer.step == Step::private_dev;
        if (!hides) return true;
        // A mount of itself would show the empty mount point.
        if (op.step == Step::bind_read_only) return false;
        for (std::size_t i = 0; i < outer.holes.size(); ++i)
            if (outer.holes[i] == op.path) return (outer.hole_is_directory[i] != 0) == op.is_directory;
        return false;
    }

    // The last mount over a place is what is seen there.
    [[nodiscard]] const wire::MountOp& covering(std::string_view place) const {
        for (auto op = mounted_.rbegin(); op != mounted_.rend(); ++op)
            if (wire::holds(op->path, place)) return *op;
        throw std::logic_error("nothing is mounted");
    }

    static void expect(bool holds, const std::string& otherwise, const wire::MountOp& op) {
        if (!holds) throw std::logic_error(op.path + ": " + otherwise);
    }

    std::vector<wire::MountOp> mounted_;
    std::set<std::uint32_t> slots_;
};

}  // namespace sandpipe::test
