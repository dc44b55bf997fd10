// The program as a process: streams, pipes, full disks, locales, signals.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "test_support/catch.hpp"

namespace {

struct Result {
  int status = -1;
  std::string text;
};

/// A line of the shell with the program as $G; standard error only when redirected.
Result shell(const std::string& line) {
  const std::string command = std::string("G='") + GPUADVISOR_BINARY + "'; " + line;
  Result result;
  std::FILE* pipe = popen(("bash -c '" +
                           [&] {
                             std::string quoted;
                             for (const char c : command)
                               quoted += c == '\'' ? "'\\''" : std::string(1, c);
                             return quoted;
                           }() +
                           "'")
                              .c_str(),
                          "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.text.append(buffer.data(), got);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace

TEST_CASE("a closed pipe ends quietly") {
  const Result result = shell("(\"$G\" models list; echo status $? >&2) 2>&1 | head -n 1");
  CHECK(result.text.find("error") == std::string::npos);
  const Result status =
      shell("set -o pipefail; \"$G\" models list 2>/dev/null | head -n 1 >/dev/null");
  CHECK(status.status == 0);
}

TEST_CASE("a full disk is an error") {
  const Result result = shell("\"$G\" --version 2>&1 >/dev/full");
  CHECK(result.status != 0);
  CHECK_THAT(result.text, ContainsSubstring("cannot write the result"));
}

TEST_CASE("errors go to standard error alone") {
  const Result result = shell("\"$G\" recomend 2>/dev/null");
  CHECK(result.status == 2);
  CHECK(result.text.empty());
}

TEST_CASE("output is the same in every locale") {
  const std::string line = "\"$G\" recommend --params 7B --mode lora";
  const Result plain = shell("LC_ALL=C " + line);
  CHECK(plain.status == 0);
  CHECK(plain.text == shell("LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 " + line).text);
  CHECK(plain.text == shell("LC_ALL=C.UTF-8 TZ=Asia/Tokyo " + line).text);
}

TEST_CASE("an interrupt gives status 130") {
  const Result result = shell(
      "fifo=$(mktemp -u); mkfifo \"$fifo\"; \"$G\" accuracy --file \"$fifo\" & sleep 0.3; "
      "kill -INT $!; wait $!; status=$?; rm -f \"$fifo\"; exit $status");
  CHECK(result.status == 130);
}

TEST_CASE("bash completion completes commands and flags") {
  const std::string prefix = "source <(\"$G\" completion bash); ";
  const Result command = shell(
      prefix + "COMP_WORDS=(gpuadvisor rec); COMP_CWORD=1; _gpuadvisor; echo \"${COMPREPLY[@]}\"");
  CHECK(command.text == "recommend\n");
  const Result flag = shell(prefix +
                            "COMP_WORDS=(gpuadvisor recommend --par); COMP_CWORD=2; _gpuadvisor; "
                            "echo \"${COMPREPLY[@]}\"");
  CHECK(flag.text == "--params\n");
  const Result mode = shell(prefix +
                            "COMP_WORDS=(gpuadvisor recommend --mode ql); COMP_CWORD=3; "
                            "_gpuadvisor; echo \"${COMPREPLY[@]}\"");
  CHECK(mode.text == "qlora\n");
}
