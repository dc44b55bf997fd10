// The measurement files as they are, in a read-only section that is only touched when
// `accuracy` asks for it: no start-up cost and no compile-time cost.
#include "gpuadvisor/accuracy.hpp"

// NOLINTBEGIN: the assembler has no other way to include a file.
#define GPUADVISOR_EMBED(symbol, file)                                                           \
  __asm__(".pushsection .rodata\n.balign 16\n" #symbol "_begin:\n.incbin \"" file "\"\n" #symbol \
          "_end:\n.byte 0\n.popsection\n");                                                      \
  extern "C" const char symbol##_begin[];                                                        \
  extern "C" const char symbol##_end[];

GPUADVISOR_EMBED(gpuadvisor_train_memory, GPUADVISOR_MEASUREMENTS "/train_memory.json")
GPUADVISOR_EMBED(gpuadvisor_train_speed, GPUADVISOR_MEASUREMENTS "/train_speed.json")
GPUADVISOR_EMBED(gpuadvisor_serve_memory, GPUADVISOR_MEASUREMENTS "/serve_memory.json")
GPUADVISOR_EMBED(gpuadvisor_serve_speed, GPUADVISOR_MEASUREMENTS "/serve_speed.json")
#undef GPUADVISOR_EMBED
// NOLINTEND

namespace gpuadvisor::accuracy {

std::vector<Document> embedded_measurements() {
  return {
      {"train_memory.json", {gpuadvisor_train_memory_begin, gpuadvisor_train_memory_end}},
      {"train_speed.json", {gpuadvisor_train_speed_begin, gpuadvisor_train_speed_end}},
      {"serve_memory.json", {gpuadvisor_serve_memory_begin, gpuadvisor_serve_memory_end}},
      {"serve_speed.json", {gpuadvisor_serve_speed_begin, gpuadvisor_serve_speed_end}},
  };
}

}  // namespace gpuadvisor::accuracy
