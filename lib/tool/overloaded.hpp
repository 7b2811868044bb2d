#pragma once

namespace sandpipe::tool {

/// One function object of several, for std::visit: a case that is missing does not compile.
template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace sandpipe::tool
