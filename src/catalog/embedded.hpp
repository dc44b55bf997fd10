// The tables that the build generates from data/.
#pragma once

#include "gpuadvisor/catalog.hpp"

namespace gpuadvisor::catalog {

Tables embedded_tables();

}  // namespace gpuadvisor::catalog
