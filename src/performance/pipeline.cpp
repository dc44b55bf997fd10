#include <algorithm>

#include "calibration_data.hpp"
#include "performance/step.hpp"
#include "performance/whole.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Schedule;

/// Layers of the middle and of the last stage. Where two more layers would divide evenly,
/// the first and the last stage have one fewer (embedding and head weigh about a layer).
struct Division {
  double middle = 0, last = 0;
};
Division divide(double layers, double pp) {
  const double even = whole_up(layers / pp);
  if (even * pp == layers) return {even, even};
  if (whole_up((layers + 2) / pp) * pp == layers + 2) return {even, even - 1};
  return {even, std::max(0.0, layers - even * (pp - 1))};
}

/// One NIC of a node, by the sum of its line rates.
double single_nic(double node_line_bw) {
  if (node_line_bw >= 400e9) return 50e9;
  return node_line_bw >= 200e9 ? 25e9 : 12.5e9;
}

}  // namespace

Stages make_stages(const Run& run, const LayerTimes& layer, const workload::Plan& plan) {
  const auto& training = run.prepared->training;
  const double one = layer.forward + layer.backward;
  const double head = layer.head_forward + layer.head_backward;
  Stages stages;
  stages.micro_batches = static_cast<double>(workload::micro_batches(training, plan)) *
                         micro_batch_parts(training, plan);
  stages.sum = run.layers * one + run.heads * head;
  if (plan.pp <= 1) {
    stages.longest_layers = run.layers;
    stages.longest_heads = run.heads;
    stages.longest = stages.sum;
    return stages;
  }
  const Division division = divide(run.layers, plan.pp);
  stages.longest_layers = division.middle;
  stages.longest = division.middle * one;
  const double last = division.last * one + run.heads * head;
  if (run.heads > 1) {  // prediction layers: layouts are balanced by hand
    if (stages.sum / plan.pp > stages.longest) {
      stages.longest_layers = run.layers / plan.pp;
      stages.longest_heads = run.heads / plan.pp;
      stages.longest = stages.longest_layers * one + stages.longest_heads * head;
    }
  } else if (last > stages.longest) {
    stages.longest_layers = division.last;
    stages.longest_heads = run.heads;
    stages.longest = last;
  }
  return stages;
}

double bubble_time(const LayerTimes& layer, const Stages& stages, const workload::Plan& plan) {
  if (plan.pp <= 1) return 0;
  const double idle = std::max(0.0, stages.sum - stages.longest) / std::max(1, plan.vpp);
  switch (plan.schedule) {
    case Schedule::zb_2p:
      return 0;
    case Schedule::zb_1p:
      return idle * std::max(0.0, 1 - 2 * layer.weight_gradient / (layer.forward + layer.backward));
    case Schedule::one_f_one_b:
    case Schedule::interleaved:
    case Schedule::gpipe:
      break;
  }
  return idle;
}

double send_time(const Run& run, const workload::Plan& plan, double tokens) {
  const Machine& machine = run.machine;
  const double chunks = std::max(1, plan.vpp);
  const double bytes = machine.element_bytes * tokens * run.prepared->architecture.hidden / plan.tp;
  double rate = speed::p2p_bw * machine.allgather_bw;
  if (1.0 * plan.tp * plan.pp > machine.gpus_per_node && run.cluster->nodes() > 1) {
    const double senders = std::min(machine.gpus_per_node, 1.0 * plan.tp * plan.cp * plan.dp);
    rate = machine.fabric_bw / machine.nic_line_bw *
           std::min(single_nic(machine.nic_line_bw), machine.nic_line_bw / senders);
  }
  const bool hidden =
      run.prepared->training.p2p_overlap || plan.schedule == Schedule::interleaved || plan.vpp > 1;
  return 2 * chunks * (bytes / rate + speed::p2p_latency) * (hidden ? speed::p2p_ov : speed::p2p);
}

}  // namespace gpuadvisor::performance
