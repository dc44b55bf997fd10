#include "gpuadvisor/units.hpp"

namespace gpuadvisor {}
