#include "fixture.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;
using namespace gpuadvisor::serving;

TEST_CASE("one request alone takes its prompt and its steps") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  const catalog::Cluster c = fixture::cluster(gpu, 1);
  Request request;
  const Arrival one[] = {{5.0, 1000, 3}};
  const Simulation s = simulate(model, request, Plan{}, c, one);
  const double prompt = step_time(model, request, Plan{}, c, {0, 0, 1000, 500}).total();
  const double first = step_time(model, request, Plan{}, c, {1, 1001, 0, 0}).total();
  const double second = step_time(model, request, Plan{}, c, {1, 1002, 0, 0}).total();
  CHECK_THAT(s.requests[0].ttft_s, WithinRel(prompt, 1e-9));
  CHECK_THAT(s.requests[0].tpot_s, WithinRel((first + second) / 2, 1e-9));
  CHECK_THAT(s.duration_s, WithinRel(prompt + first + second, 1e-9));
}

TEST_CASE("the sequence cap makes requests wait in order") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  request.max_num_seqs = 2;
  const std::vector<Arrival> many(6, Arrival{0, 100, 50});
  const Simulation s = simulate(model, request, Plan{}, fixture::cluster(gpu, 1), many);
  CHECK(s.peak_running == 2);
  for (std::size_t i = 2; i < many.size(); ++i)
    CHECK(s.requests[i].ttft_s > s.requests[i - 2].finish_s - 1e-12);
}

TEST_CASE("the simulation agrees with the open-load model at light load") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  const catalog::Cluster c = fixture::cluster(gpu, 1);
  Request request;
  request.load = Load::open;
  request.rate_rps = 2;
  const auto arrivals = poisson_arrivals(2, 400, 1024, 0, 256, 0, 1);
  const Simulation s = simulate(model, request, Plan{}, c, arrivals);
  const Speed model_speed = estimate(model, request, Plan{}, c).speed;
  CHECK_THAT(s.tpot_mean_s, WithinRel(model_speed.tpot_s, 0.15));
  CHECK_THAT(s.ttft_mean_s, WithinRel(model_speed.ttft_s, 0.30));
}

TEST_CASE("the same seed draws the same arrivals with the asked mean") {
  const auto first = poisson_arrivals(10, 20000, 500, 1500, 200, 0, 7);
  const auto second = poisson_arrivals(10, 20000, 500, 1500, 200, 0, 7);
  double sum = 0;
  std::size_t above = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].time_s == second[i].time_s);
    sum += first[i].input_len;
    if (first[i].input_len > 1500) ++above;
  }
  CHECK_THAT(sum / 20000, WithinRel(500.0, 0.05));
  CHECK_THAT(static_cast<double>(above) / 20000, WithinAbs(0.05, 0.01));
  CHECK_THAT(first.back().time_s, WithinRel(2000.0, 0.05));
  CHECK(first[0].output_len == 200);
}

TEST_CASE("no arrivals make an empty simulation") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  const Simulation s = simulate(model, Request{}, Plan{}, fixture::cluster(gpu, 1), {});
  CHECK(s.requests.empty());
  CHECK(s.output_tokens_per_s == 0);
}

TEST_CASE("a trace is read line by line and sorted by arrival") {
  const auto trace = parse_trace(
      "{\"arrival_s\": 2, \"input_len\": 300, \"output_len\": 10}\r\n\n"
      "{\"input_len\": 100, \"output_len\": 30}\n",
      "t.jsonl");
  REQUIRE(trace);
  REQUIRE(trace->size() == 2);
  CHECK((*trace)[0].input_len == 100);
  CHECK((*trace)[1].time_s == 2);
  Request request;
  apply_trace(request, *trace);
  CHECK(request.load == Load::open);
  CHECK(request.rate_rps == 0.5);  // one interval of two seconds
  CHECK(request.input_len == 200);
  CHECK(request.output_len == 20);
}

TEST_CASE("a wrong trace names the line and the reason") {
  const auto message = [](std::string_view text) {
    const auto trace = parse_trace(text, "t.jsonl");
    return trace ? std::string("read") : trace.error().where + ": " + trace.error().message;
  };
  CHECK(message("") == "t.jsonl: holds no request");
  CHECK(message("{") == "t.jsonl:1: is no valid JSON");
  CHECK(message("[1]") == "t.jsonl:1: is no JSON object");
  CHECK(message("\n{\"input_len\": 5}") == "t.jsonl:2: output_len is missing");
  CHECK(message("{\"input_len\": 0, \"output_len\": 1}") == "t.jsonl:1: input_len is out of range");
  CHECK(message("{\"input_len\": \"5\", \"output_len\": 1}") ==
        "t.jsonl:1: input_len is no number");
  CHECK(message("{\"input_len\": 5, \"output_len\": 1, \"x\": 1}") == "t.jsonl:1: unknown key x");
}

TEST_CASE("replicas share the arrivals of a trace") {
  const catalog::Gpu gpu = fixture::a100();
  const Model model = prepare(fixture::llama_8b());
  Request request;
  request.max_num_seqs = 1;
  const std::vector<Arrival> many(4, Arrival{0, 100, 50});
  Plan plan;
  const Simulation one = simulate(model, request, plan, fixture::cluster(gpu, 1), many);
  plan.replicas = 2;
  const Simulation two = simulate(model, request, plan, fixture::cluster(gpu, 2), many);
  CHECK_THAT(two.duration_s, WithinRel(one.duration_s / 2, 1e-9));
  CHECK(two.requests[0].finish_s == two.requests[1].finish_s);
}
