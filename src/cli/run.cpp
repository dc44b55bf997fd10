#include "cli/run.hpp"

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include <fmt/format.h>

#include "cli/flags.hpp"
#include "cli/help.hpp"
#include "cli/suggest.hpp"
#include "gpuadvisor/catalog.hpp"
#include "gpuadvisor/report.hpp"

namespace gpuadvisor::cli {
namespace {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return kUsage;
    case ErrorCode::input:
      return kBadInput;
    case ErrorCode::internal:
      break;
  }
  return kInternal;
}

Output refused(const Error& error) {
  std::string text = "error: ";
  if (!error.where.empty()) text += error.where + ": ";
  text += error.message + "\n";
  if (!error.hint.empty()) text += "  " + error.hint + "\n";
  return {{}, std::move(text), status_of(error.code)};
}

Output version() {
  return {fmt::format("gpuadvisor {}\ncatalog {}\nschema {}\n", report::tool_version(),
                      catalog::Catalog::embedded().date(), report::kSchemaVersion),
          {},
          kSuccess};
}

/// `help`, `help CMD`, `CMD --help`: what the words before name.
Result<Output> help(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help") words.erase(words.begin());
  if (words.empty()) return Output{general_help(), {}, kSuccess};
  if (words.size() == 1)
    if (const std::string text = group_help(words.front()); !text.empty())
      return Output{text, {}, kSuccess};
  const auto command = take_command(words);
  if (!command) return tl::unexpected(command.error());
  return Output{command_help(**command), {}, kSuccess};
}

Result<void> check_positionals(const Command& command, const std::vector<std::string>& words) {
  const std::size_t most = command.positional.empty() ? 0 : 1;
  if (words.size() > most)
    return fail(ErrorCode::usage, fmt::format("unexpected argument {}", quote(words[most])), {},
                fmt::format("gpuadvisor {} --help", command.name));
  if (command.positional_required && words.empty())
    return fail(ErrorCode::usage, fmt::format("'{}' needs {}", command.name, command.positional),
                {}, fmt::format("for example: {}", command.example));
  return {};
}

Result<Output> run_checked(std::span<const std::string> argv, const Environment& environment) {
  auto arguments = split_arguments(argv);
  if (!arguments) return tl::unexpected(arguments.error());
  if (arguments->has("version")) return version();
  const bool asks_help =
      arguments->has("help") || (!arguments->words.empty() && arguments->words[0] == "help");
  if (asks_help) return help(arguments->words);
  if (arguments->words.empty() && !arguments->unknown.empty())
    if (const auto ok = check_flags(*arguments, "", kEverywhere); !ok)
      return tl::unexpected(ok.error());
  if (arguments->words.empty()) return Output{{}, short_help(), kUsage};

  const auto command = take_command(arguments->words);
  if (!command) return tl::unexpected(command.error());
  if (const auto ok = check_flags(*arguments, (*command)->name, (*command)->bit); !ok)
    return tl::unexpected(ok.error());
  if (const auto ok = check_positionals(**command, arguments->words); !ok)
    return tl::unexpected(ok.error());
  auto output = (*command)->run(*arguments, environment);
  if (output && arguments->has("quiet")) output->notes.clear();
  return output;
}

/// Writes everything; the error number of the first failure, else 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Output run(std::span<const std::string> argv, const Environment& environment) {
  try {
    auto output = run_checked(argv, environment);
    return output ? std::move(*output) : refused(output.error());
  } catch (const std::exception& error) {
    return refused({ErrorCode::internal,
                    fmt::format("internal fault: {}", error.what()),
                    {},
                    "please report it with the command line"});
  }
}

int deliver(const Output& output) {
  const int failure = write_all(STDOUT_FILENO, output.text);
  if (failure != 0 && failure != EPIPE) {
    const Output error = refused(
        {ErrorCode::input,
         fmt::format("cannot write the result: {}", std::generic_category().message(failure)),
         {},
         {}});
    (void)write_all(STDERR_FILENO, error.notes);
    return error.status;
  }
  (void)write_all(STDERR_FILENO, output.notes);
  return output.status;
}

}  // namespace gpuadvisor::cli
