#include "sandbox/policy/mount_layout.hpp"

#include <cstddef>
#include <utility>

#include "sandbox/policy/own_places.hpp"

namespace sandpipe {
namespace {

using wire::Access;
using wire::MountOp;
using wire::MountStep;

MountOp mount(MountStep step, std::string path) {
    MountOp op;
    op.step = step;
    op.path = std::move(path);
    return op;
}

/// Visits the places from the root downwards and puts a mount wherever the view differs from the one around
/// it.
class MountLayout {
  public:
    explicit MountLayout(const MountInput& input) : input_(input) {
        placed_.push_back(mount(MountStep::read_only_root, "/"));
        around_.push_back({"/", View::host_read_only, 0});
    }

    std::vector<MountOp> run() {
        std::map<std::string, bool> places = input_.places;
        places[input_.tmp] = true;
        // Ancestors come before their descendants, because a prefix sorts before what it begins.
        for (const auto& [place, is_directory] : places) visit(place, is_directory);
        place_devices();
        // Trees are taken before anything is hidden or made read-only; from then on they are out of reach.
        taken_.insert(taken_.end(), std::make_move_iterator(placed_.begin()),
                      std::make_move_iterator(placed_.end()));
        return std::move(taken_);
    }

  private:
    struct Area {
        std::string place;
        View view;
        std::size_t op;  // the mount that made it, in placed_
    };

    void visit(const std::string& place, bool is_directory) {
        while (!wire::holds(around_.back().place, place)) around_.pop_back();
        const Area& outer = around_.back();
        const View view = view_of(input_, place);
        if (view == outer.view) return;
        const bool host_is_hidden = outer.view == View::masked || outer.view == View::own_tmp;
        if (host_is_hidden) open_hole(placed_[outer.op], place, is_directory);
        const MountStep step = step_between(outer.view, view);
        around_.push_back({place, view, placed_.size()});
        place_mount(step, place, is_directory);
    }

    static MountStep step_between(View outer, View view) {
        switch (view) {
            case View::masked:
                return MountStep::mask;
            case View::own_tmp:
                return MountStep::private_tmp;
            case View::host_writable:
                return MountStep::place_writable;
            case View::host_read_only:
                break;
        }
        return outer == View::host_writable ? MountStep::bind_read_only : MountStep::place_read_only;
    }

    void place_mount(MountStep step, const std::string& place, bool is_directory) {
        MountOp op = mount(step, place);
        op.is_directory = is_directory;
        if (step == MountStep::private_tmp) op.bytes = input_.tmp_bytes;
        if (step == MountStep::place_writable || step == MountStep::place_read_only) {
            op.slot = static_cast<std::uint32_t>(taken_.size());
            MountOp take = op;
            take.step = MountStep::take_tree;
            taken_.push_back(std::move(take));
        }
        placed_.push_back(std::move(op));
    }

    // What hides a directory needs a mount point for each place in it that is shown again.
    static void open_hole(MountOp& outer, const std::string& place, bool is_directory) {
        if (outer.step == MountStep::mask) outer.step = MountStep::mask_with_holes;
        outer.holes.push_back(place);
        outer.hole_is_directory.push_back(is_directory);
    }

    // No place of a rule is in /dev, so its turn is any time after the root's.
    void place_devices() {
        MountOp op = mount(MountStep::private_dev, std::string(kDev));
        op.bytes = input_.tmp_bytes;  // of /dev/shm
        op.holes = input_.devices;
        op.hole_is_directory.assign(op.holes.size(), false);
        placed_.insert(placed_.begin() + 1, std::move(op));
    }

    const MountInput& input_;
    std::vector<Area> around_;  // the areas that the place being visited stands in, the innermost last
    std::vector<MountOp> taken_;
    std::vector<MountOp> placed_;
};

}  // namespace

bool is_granted_within(const wire::AccessRules& rules, std::string_view outer, std::string_view place) {
    bool granted = false;
    rules.visit_above(place, [&](const wire::AccessRule& rule) {
        const bool grants = rule.access == Access::allow_read || rule.access == Access::allow_write;
        granted = granted || (grants && wire::holds(outer, rule.place));
    });
    return granted;
}

View view_of(const MountInput& input, std::string_view place) {
    if (!input.rules.read(place).allowed) return View::masked;
    if (input.rules.write(place).allowed) return View::host_writable;
    // The host's /tmp is shown only where a rule within it asks for that.
    const bool is_hidden = wire::holds(input.tmp, place) && !is_granted_within(input.rules, input.tmp, place);
    return is_hidden ? View::own_tmp : View::host_read_only;
}

std::vector<wire::MountOp> lay_out_mounts(const MountInput& input) { return MountLayout(input).run(); }

}  // namespace sandpipe
