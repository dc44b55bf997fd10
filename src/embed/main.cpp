#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "embed/embed.hpp"

namespace gpuadvisor::embed {

Result<nlohmann::ordered_json> read_json(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::input, "cannot be read", path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const std::exception& error) {
    return fail(ErrorCode::input, error.what(), path);
  }
}

Result<void> write_text(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    if (!out.flush()) return fail(ErrorCode::input, "cannot be written", temporary);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(ErrorCode::input, "cannot be written", path);
  return {};
}

std::string double_literal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

std::string string_literal(const std::string& text) {
  std::string out = "\"";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (byte < 0x20 || byte > 0x7e) {
      out += fmt::format("\\{:03o}", byte);
    } else {
      out += character;
    }
  }
  return out + "\"";
}

}  // namespace gpuadvisor::embed

int main(int argc, char** argv) {
  using namespace gpuadvisor;
  const std::vector<std::string> arguments(argv + (argc > 1 ? 2 : 1), argv + argc);
  const std::string command = argc > 1 ? argv[1] : "";
  Result<void> result = fail(ErrorCode::usage, "unknown command", command);
  if (command == "calibration") result = embed::calibration(arguments);
  if (command == "bands") result = embed::bands(arguments);
  if (command == "frameworks") result = embed::frameworks(arguments);
  if (command == "catalog") result = embed::catalog(arguments);
  if (command == "models") result = embed::models(arguments);
  if (result) return 0;
  std::fprintf(stderr, "error: %s: %s\n", result.error().where.c_str(),
               result.error().message.c_str());
  return 1;
}
