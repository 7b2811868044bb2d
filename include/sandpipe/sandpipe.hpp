#pragma once

/// Everything but tool/. In the order in which one gets to know it:

#include <sandpipe/error.hpp>            // what is thrown: wrong configuration, wrong invocations
#include <sandpipe/runtime.hpp>          // owns the helper processes; one per application
#include <sandpipe/invocation.hpp>       // command("git").args("log").timeout(10s)
#include <sandpipe/shell.hpp>            // words to a line and a line to an invocation
#include <sandpipe/environment.hpp>      //   .env(Environment::standard().set("LC_ALL", "C"))
#include <sandpipe/end_status.hpp>       // how a command ended, and why
#include <sandpipe/result.hpp>           // the settled result
#include <sandpipe/local_executor.hpp>   // runs to the settled result
#include <sandpipe/sandboxed_executor.hpp>  // the same, each command in a sandbox
#include <sandpipe/async_exec.hpp>       //   without coroutines
#include <sandpipe/command_stream.hpp>   // runs with output as it arrives
#include <sandpipe/output_event.hpp>     //   chunks, denials, the end
#include <sandpipe/text.hpp>             //   as UTF-8, as lines
#include <sandpipe/text_renderer.hpp>    //   as text for a terminal or a model
#include <sandpipe/policy.hpp>           // what a sandboxed command may do
#include <sandpipe/explain.hpp>          //   and what it would say
#include <sandpipe/srt_settings.hpp>     //   from a settings file of @anthropic-ai/sandbox-runtime
#include <sandpipe/srt_enforcer.hpp>     // a sandbox session
#include <sandpipe/enforcement_report.hpp>  // what the machine enforces
#include <sandpipe/audit.hpp>            // what happened to the sandbox, for whoever answers for it
#include <sandpipe/stop_on_signals.hpp>  // Ctrl-C of the host
#include <sandpipe/fake_executor.hpp>    // for tests of your own code
