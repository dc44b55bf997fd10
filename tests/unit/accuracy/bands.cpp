#include <cmath>

#include "gpuadvisor/accuracy.hpp"
#include "test_support/catch.hpp"
#include "workload/bands.hpp"

using namespace gpuadvisor;

TEST_CASE("the kept error bands are those of the shipped measurements") {
  const catalog::Catalog& catalog = catalog::Catalog::embedded();
  const auto report = accuracy::run(catalog, accuracy::embedded_measurements(), {});
  REQUIRE(report.has_value());
  std::size_t kept = 0;
  for (const workload::BandRecord& record : workload::band_records())
    kept += record.rows > 0 ? 1U : 0U;
  const auto bands = accuracy::error_bands(*report, catalog);
  CHECK(kept == bands.size());
  for (const accuracy::ErrorBand& band : bands) {
    INFO(band.kind << " '" << band.method << "' '" << band.gpu_class << "'");
    bool found = false;
    for (const workload::BandRecord& record : workload::band_records()) {
      if (record.rows == 0 || record.kind != band.kind || record.method != band.method ||
          record.gpu_class != band.gpu_class)
        continue;
      found = true;
      // A model change that moves an error by more than this has to renew the records;
      // few rows move more.
      const double slack = 1 / std::sqrt(static_cast<double>(band.rows));
      CHECK(std::fabs(record.p50 - band.p50) <= 0.01 + slack * 0.1 + 0.2 * band.p50);
      CHECK(std::fabs(record.p90 - band.p90) <= 0.02 + slack * 0.2 + 0.25 * band.p90);
    }
    CHECK(found);
  }
}

TEST_CASE("a band answers for the part, its method and its class") {
  const catalog::Catalog& catalog = catalog::Catalog::embedded();
  const auto gpu = [&](const char* id) -> const catalog::Gpu& {
    const catalog::Gpu* found = catalog.find_gpu(id);
    REQUIRE(found != nullptr);
    return *found;
  };
  using workload::Framework;
  using workload::Mode;
  CHECK(workload::band_class(gpu("A100-SXM4-80GB")) == "ampere");
  CHECK(workload::band_class(gpu("A10")) == "ampere-pcie");
  CHECK(workload::band_class(gpu("H20-96GB")) == "hopper");
  CHECK(workload::band_class(gpu("T4")) == "turing");
  CHECK(workload::speed_band(Mode::lora, Framework::hf, gpu("T4")).p50 == 0.12);
  CHECK(workload::speed_band(Mode::lora, Framework::hf, gpu("A10")).p90 == 1.0);
  for (const catalog::Gpu& any : catalog.gpus())
    for (const Mode mode :
         {Mode::pretrain, Mode::full_ft, Mode::lora, Mode::qlora, Mode::dpo, Mode::serve}) {
      const workload::Band memory = workload::memory_band(mode, Framework::hf, any);
      const workload::Band speed = workload::speed_band(mode, Framework::hf, any);
      REQUIRE((memory.p50 && memory.p90 && speed.p50 && speed.p90));
      CHECK(*memory.p50 <= *memory.p90);
      CHECK(*speed.p50 <= *speed.p90);
    }
  // Unmeasured hardware is not promised less than the measured.
  CHECK(*workload::speed_band(Mode::pretrain, Framework::megatron, gpu("T4")).p50 >=
        *workload::speed_band(Mode::pretrain, Framework::megatron, gpu("A100-SXM4-80GB")).p50);
}
