#include <cstdio>

int main() {
  std::puts("gpuadvisor " GPUADVISOR_VERSION);
  return 0;
}
