#pragma once

#include <sandpipe/unique_fd.hpp>

#include <string>

namespace sandpipe::launcher {

/// What is mounted over a denied place: a file or a directory of mode 000 on a read-only tmpfs. Its mode
/// makes every open EACCES, for root too, whose capabilities are gone; the read-only mount makes chmod EROFS.
/// Only a mount of the caller's own mount namespace can be cloned, so the cell and each init open the masks
/// anew.
struct Masks {
    unique_fd file;  ///< O_PATH
    unique_fd directory;

    /// Makes the tmpfs and mounts it on `place`.
    [[nodiscard]] int make(int place);
    /// Finds the masks on the tmpfs whose root is `root`.
    [[nodiscard]] int open(int root);
    /// Covers `place`, whatever it is.
    [[nodiscard]] int cover(int place) const;
};

}  // namespace sandpipe::launcher
