// Orders of machines and platform jobs on Alibaba Cloud. Fields: ECS RunInstances,
// the alicloud Terraform provider, PAI-DLC CreateJob and PAI-EAS service JSON.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "emit/parts.hpp"

namespace gpuadvisor::emit {
namespace {

using nlohmann::ordered_json;

Result<void> needs_aliyun(const Job& job, Target target) {
  const catalog::Instance* instance = job.row->instance;
  if (instance != nullptr && instance->provider == "aliyun") return {};
  return fail(
      ErrorCode::usage,
      fmt::format("'{}' orders Alibaba Cloud types, and the best result is {}", to_string(target),
                  instance == nullptr
                      ? std::string("no catalog instance")
                      : fmt::format("{} of {}", instance->name, instance->provider)),
      "--for", "rank with --provider aliyun, or give --instance");
}

std::string region(const Job& job) {
  if (!job.query->region.empty()) return job.query->region;
  if (job.row->quote && !job.row->quote->region.empty()) return job.row->quote->region;
  return "${REGION:?region id}";
}

bool spot(const Job& job) { return job.query->price_kind == catalog::PriceKind::spot; }

/// A spot price cap: the on-demand price, which a spot order should never pass.
std::string spot_limit(const Job& job) {
  return job.row->quote ? format_number(job.row->quote->per_hour, 3) : "0";
}

bool rdma(const Job& job) {
  return job.row->instance->rdma == catalog::Fabric::erdma && job.row->count > 1;
}

}  // namespace

Result<std::string> aliyun(const Job& job) {
  if (auto legal = needs_aliyun(job, Target::aliyun); !legal) return tl::unexpected(legal.error());
  std::string text = script_head(job, "Orders the machines; costs money from the first minute.");
  text += fmt::format(
      "aliyun ecs RunInstances --RegionId \"{}\" --InstanceType {} --Amount {} --MinAmount {} \\\n"
      "  --ImageId \"${{IMAGE:?a GPU image}}\" --VSwitchId \"${{VSWITCH:?one zone for all}}\" "
      "--SecurityGroupId \"${{SECURITY_GROUP:?}}\" \\\n"
      "  --SystemDisk.Category cloud_essd --SystemDisk.Size 200",
      region(job), job.row->instance->name, job.row->count, job.row->count);
  if (rdma(job))
    text +=
        " \\\n  --DeploymentSetId \"${DEPLOYMENT_SET:?}\" "
        "--NetworkInterface.1.InstanceType Primary "
        "--NetworkInterface.1.NetworkInterfaceTrafficMode HighPerformance";
  if (spot(job))
    text += fmt::format(" \\\n  --SpotStrategy SpotWithPriceLimit --SpotPriceLimit {}",
                        spot_limit(job));
  return text + "\n";
}

Result<std::string> terraform(const Job& job) {
  if (auto legal = needs_aliyun(job, Target::terraform); !legal)
    return tl::unexpected(legal.error());
  std::string text = fmt::format(
      "# {}\nvariable \"image_id\" {{}}\nvariable \"vswitch_id\" {{}}\n"
      "variable \"security_group_id\" {{}}\n\n"
      "resource \"alicloud_instance\" \"gpu\" {{\n  count                = {}\n"
      "  instance_type        = \"{}\"\n  image_id             = var.image_id\n"
      "  vswitch_id           = var.vswitch_id\n"
      "  security_groups      = [var.security_group_id]\n"
      "  system_disk_category = \"cloud_essd\"\n  system_disk_size     = 200\n",
      describe_job(job), job.row->count, job.row->instance->name);
  if (rdma(job)) text += "  network_interface_traffic_mode = \"HighPerformance\"\n";
  if (spot(job))
    text += fmt::format(
        "  spot_strategy        = \"SpotWithPriceLimit\"\n"
        "  spot_price_limit     = {}\n",
        spot_limit(job));
  return text + "}\n";
}

Result<std::string> pai_dlc(const Job& job) {
  if (auto legal = needs_aliyun(job, Target::pai_dlc); !legal) return tl::unexpected(legal.error());
  const ordered_json specification = {{"Type", "Worker"},
                                      {"PodCount", job.row->count},
                                      {"EcsSpec", job.row->instance->name},
                                      {"Image", "${IMAGE}"}};
  const ordered_json document = {
      {"DisplayName", "gpuadvisor-job"},
      {"JobType", "PyTorchJob"},
      {"JobSpecs", ordered_json::array({specification})},
      {"UserCommand",
       fmt::format("torchrun --nproc_per_node {} --nnodes $WORLD_SIZE --node_rank $RANK "
                   "--master_addr $MASTER_ADDR --master_port $MASTER_PORT $TRAIN",
                   std::min(job.row->cluster.gpus, job.row->cluster.gpus_per_node))}};
  return document.dump(2) + "\n";
}

Result<std::string> pai_eas(const Job& job) {
  if (auto legal = needs_aliyun(job, Target::pai_eas); !legal) return tl::unexpected(legal.error());
  auto command = serve_command(job, usual_target(job));
  if (!command) return command;
  const ordered_json container = {
      {"image", "${IMAGE}"}, {"port", 8000}, {"script", *command + " --host 0.0.0.0 --port 8000"}};
  const int per_instance =
      std::max(1, job.row->instance->gpus / job.row->serving->plan.gpus_per_replica());
  const ordered_json document = {
      {"metadata",
       {{"name", "gpuadvisor_service"},
        {"instance", job.row->count},
        {"gpu", job.row->instance->gpus / per_instance}}},
      {"cloud",
       {{"computing",
         {{"instances", ordered_json::array({{{"type", job.row->instance->name}}})}}}}},
      {"containers", ordered_json::array({container})}};
  return document.dump(2) + "\n";
}

}  // namespace gpuadvisor::emit
