#include "gpuadvisor/workload.hpp"

namespace gpuadvisor::workload {

Band memory_band(Mode /*mode*/, Framework /*framework*/, const catalog::Gpu& /*gpu*/) { return {}; }
Band speed_band(Mode /*mode*/, Framework /*framework*/, const catalog::Gpu& /*gpu*/) { return {}; }

}  // namespace gpuadvisor::workload
