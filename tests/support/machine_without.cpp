#include "support/machine_without.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <utility>

#include "support/as_user.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {

using nlohmann::json;

json CommandLineRun::line(const std::string& event) const {
    for (const json& line : lines)
        if (line["event"] == event) return line;
    return json::object();
}

std::string CommandLineRun::enforced(const std::string& mechanism) const {
    return line("start").value(json::json_pointer("/enforcement/" + mechanism + "/enforced"), "missing");
}

std::string CommandLineRun::detail(const std::string& mechanism) const {
    return line("start").value(json::json_pointer("/enforcement/" + mechanism + "/detail"), "");
}

std::string CommandLineRun::warnings() const {
    std::string all;
    for (const json& line : lines)
        if (line["event"] == "warning") all += line["text"].get<std::string>() + "\n";
    return all;
}

std::string CommandLineRun::output() const {
    std::string all;
    for (const json& line : lines)
        if (line["event"] == "stdout") all += line["data"].get<std::string>();
    return all;
}

std::string CommandLineRun::failure() const {
    const json failure = line("end").value("start_failure", json());
    return failure.is_null() ? "" : failure.dump();
}

CommandLineRun run_without(const std::string& what, const std::string& workspace, const std::string& options,
                           const std::string& line, const std::string& environment) {
    std::string quoted;
    for (const char c : line) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    const std::string all = "cd '" + workspace + "' && env " + environment + " '" + test_program("attack_without") +
                            "' " + what + " '" + test_program("sandpipe") + "' run --json " + options + " -c '" +
                            quoted + "' 2>&1 < /dev/null";
    CommandLineRun run;
    ProgramResult result = run_program({"/bin/sh", "-c", all}, {}, std::chrono::seconds{120});
    run.status = result.status;
    run.text = std::move(result.out);
    std::istringstream text(run.text);
    for (std::string one; std::getline(text, one);)
        if (json parsed = json::parse(one, nullptr, false); parsed.is_object()) run.lines.push_back(std::move(parsed));
    return run;
}

}  // namespace sandpipe::testing
