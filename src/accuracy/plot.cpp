#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "accuracy/summary.hpp"
#include "gpuadvisor/accuracy.hpp"

namespace gpuadvisor::accuracy {
namespace {

constexpr double kPanel = 420;  // pixels of a panel's plotting square
constexpr double kMargin = 60;
constexpr double kGap = 40;
constexpr double kBand = 0.25;  // dashed lines at this relative error

using Points = std::vector<const Outcome*>;

struct Panel {
  std::string title;
  Points points;
  double low = 1, high = 10;  ///< powers of ten, both axes
  double left = 0, top = kMargin;

  [[nodiscard]] double scale(double value) const {
    const double span = std::log10(high / low);
    return std::clamp(std::log10(value / low) / span, 0.0, 1.0) * kPanel;
  }
  [[nodiscard]] double x(double measured) const { return left + scale(measured); }
  [[nodiscard]] double y(double predicted) const { return top + kPanel - scale(predicted); }
};

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// One panel a kind and quantity class: memory in GiB, times in seconds, rates apart.
std::vector<Panel> panels_of(const Report& report) {
  std::map<std::string, Points> groups;
  for (const Outcome& outcome : report.outcomes) {
    if (!outcome.relative_error || outcome.predicted <= 0) continue;
    const bool memory = outcome.quantity.size() > 4 && outcome.quantity.ends_with("_gib");
    groups[outcome.kind + ", " + (memory ? "GiB" : outcome.quantity)].push_back(&outcome);
  }
  std::vector<Panel> panels;
  for (auto& [title, points] : groups) {
    Panel panel;
    panel.title = title;
    double low = points.front()->measured;
    double high = low;
    for (const Outcome* point : points) {
      low = std::min({low, point->measured, point->predicted});
      high = std::max({high, point->measured, point->predicted});
    }
    panel.low = std::pow(10, std::floor(std::log10(low)));
    panel.high = std::max(panel.low * 10, std::pow(10, std::ceil(std::log10(high))));
    panel.points = std::move(points);
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escape(text));
}

std::string axes(const Panel& panel) {
  std::string out = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"none\" "
      "stroke=\"#888\"/>\n",
      panel.left, panel.top, kPanel, kPanel);
  for (double tick = panel.low; tick <= panel.high * 1.01; tick *= 10) {
    out += line(panel.x(tick), panel.top, panel.x(tick), panel.top + kPanel, "stroke=\"#e4e4e4\"");
    out +=
        line(panel.left, panel.y(tick), panel.left + kPanel, panel.y(tick), "stroke=\"#e4e4e4\"");
    out += text_at(panel.x(tick), panel.top + kPanel + 16, "middle", fmt::format("{:g}", tick));
    out += text_at(panel.left - 6, panel.y(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  const auto diagonal = [&](double factor, const char* style) {
    const double from = factor > 1 ? panel.low : panel.low / factor;
    const double to = factor > 1 ? panel.high / factor : panel.high;
    return line(panel.x(from), panel.y(from * factor), panel.x(to), panel.y(to * factor), style);
  };
  out += diagonal(1, "stroke=\"#444\"");
  out += diagonal(1 + kBand, "stroke=\"#999\" stroke-dasharray=\"4 4\"");
  out += diagonal(1 - kBand, "stroke=\"#999\" stroke-dasharray=\"4 4\"");
  return out;
}

const char* colour(const std::string& quality) {
  if (quality == "A") return "#1b6ca8";
  return quality == "B" ? "#e08e1b" : "#b33a3a";
}

std::string draw(const Panel& panel) {
  std::vector<double> errors;
  std::string dots;
  for (const Outcome* point : panel.points) {
    errors.push_back(std::fabs(*point->relative_error));
    dots += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\" fill-opacity=\"0.6\"><title>{}: "
        "predicted {:.4g}, measured {:.4g} ({:+.1f}%)</title></circle>\n",
        panel.x(point->measured), panel.y(point->predicted), colour(point->quality),
        escape(point->id), point->predicted, point->measured, 100 * *point->relative_error);
  }
  std::string out = axes(panel) + dots;
  out += text_at(panel.left, panel.top - 24, "start", panel.title);
  out += text_at(
      panel.left, panel.top - 8, "start",
      fmt::format("{} figures, median error {:.1f}%, 90th percentile {:.1f}%", errors.size(),
                  100 * percentile(errors, 0.5), 100 * percentile(errors, 0.9)));
  out += text_at(panel.left + kPanel / 2, panel.top + kPanel + 36, "middle", "measured");
  return out;
}

}  // namespace

std::string plot_svg(const Report& report) {
  std::vector<Panel> panels = panels_of(report);
  const std::size_t columns = std::max<std::size_t>(1, std::min<std::size_t>(3, panels.size()));
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double cell = kPanel + kMargin + kGap;
  std::string body;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    panels[i].left = kMargin + cell * static_cast<double>(i % columns);
    const std::size_t row = i / columns;
    panels[i].top = kMargin + cell * static_cast<double>(row);
    body += draw(panels[i]);
  }
  const double width = cell * static_cast<double>(columns);
  const double height = cell * static_cast<double>(std::max<std::size_t>(1, rows)) + 40;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
             "<text x=\"{2}\" y=\"20\" font-size=\"15\">Predicted against measured (quality: A "
             "blue, B orange, C "
             "red; dashed: 25%)</text>\n",
             width, height, kMargin) +
         body + "</svg>\n";
}

}  // namespace gpuadvisor::accuracy
