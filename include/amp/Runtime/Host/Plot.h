//===- Plot.h - Training curves as one HTML page ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page that --plot of amp-run and of trainers writes. This header needs
// neither CUDA nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_PLOT_H
#define AMP_RUNTIME_HOST_PLOT_H

#include "amp/Runtime/Host/RunRecord.h"

#include <cstdarg>

namespace amphost {
using namespace amphost;

namespace plot {

inline constexpr double kWidth = 860, kHeight = 260;
inline constexpr double kLeft = 70, kRight = 20, kTop = 16, kBottom = 34;
/// More points than pixels would only enlarge the file.
inline constexpr size_t kMaxPoints = 800;
/// Colours that do not rely on red against green.
inline constexpr const char *kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                           "#cc79a7", "#e69f00", "#56b4e9"};
inline constexpr size_t kNumColours = sizeof(kColours) / sizeof(kColours[0]);

struct Point {
  double x, y;
};

struct Curve {
  size_t colour;
  std::vector<Point> points;
};

/// One diagram: curves over the step number, or over what `axis` says.
struct Panel {
  std::string title;
  bool logarithmic = false;
  std::vector<Curve> curves;
  std::string axis = "step";
};

inline std::string escapeHtml(const std::string &text) {
  std::string escaped;
  for (char c : text)
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&apos;";
      break;
    default:
      escaped += c;
    }
  return escaped;
}

/// Formats a few numbers as printf does.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
inline std::string
print(const char *format, ...) {
  char text[192];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

/// Averages neighbouring points down to kMaxPoints.
inline std::vector<Point> thin(std::vector<Point> points) {
  if (points.size() <= kMaxPoints)
    return points;
  std::vector<Point> result;
  for (size_t i = 0; i < kMaxPoints; ++i) {
    const size_t begin = i * points.size() / kMaxPoints;
    const size_t end = (i + 1) * points.size() / kMaxPoints;
    Point mean = {0, 0};
    for (size_t j = begin; j < end; ++j) {
      mean.x += points[j].x / double(end - begin);
      mean.y += points[j].y / double(end - begin);
    }
    result.push_back(mean);
  }
  return result;
}

/// Collects `metric` of every run. `cumulative` adds up the values. Non-finite
/// values, and values without a logarithm on a logarithmic axis, leave a gap.
inline Panel buildPanel(const char *title, const char *metric,
                        const std::vector<RunRecord> &runs,
                        const std::vector<size_t> &colours, bool logarithmic,
                        bool cumulative) {
  Panel panel{title, logarithmic, {}, "step"};
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::optional<size_t> column = runs[i].findMetric(metric);
    if (!column)
      continue;
    std::vector<Point> points;
    double sum = 0.0;
    for (const StepRecord &step : runs[i].steps) {
      double value = step.values[*column];
      if (cumulative)
        value = sum += value;
      if (std::isfinite(value) && (!logarithmic || value > 0))
        points.push_back(
            {double(step.step), logarithmic ? std::log2(value) : value});
    }
    if (!points.empty())
      panel.curves.push_back({colours[i], thin(std::move(points))});
  }
  return panel;
}

/// A step of 1, 2 or 5 times a power of ten that gives about five ticks.
inline double chooseTick(double range) {
  const double raw = range / 5;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power)
      return factor * power;
  return 10 * power;
}

inline std::string printPanel(const Panel &panel) {
  double xLow = panel.curves[0].points[0].x, xHigh = xLow;
  double yLow = panel.curves[0].points[0].y, yHigh = yLow;
  for (const Curve &curve : panel.curves)
    for (const Point &point : curve.points) {
      xLow = std::min(xLow, point.x);
      xHigh = std::max(xHigh, point.x);
      yLow = std::min(yLow, point.y);
      yHigh = std::max(yHigh, point.y);
    }
  if (!panel.logarithmic)
    yLow = std::min(yLow, 0.0);
  if (xHigh == xLow)
    xHigh = xLow + 1;
  if (yHigh == yLow)
    yHigh = yLow + 1;
  auto mapX = [&](double x) {
    return kLeft + (x - xLow) / (xHigh - xLow) * (kWidth - kLeft - kRight);
  };
  auto mapY = [&](double y) {
    return kHeight - kBottom -
           (y - yLow) / (yHigh - yLow) * (kHeight - kTop - kBottom);
  };

  std::string text =
      "<h2>" + escapeHtml(panel.title) + "</h2>\n" +
      print("<svg viewBox=\"0 0 %g %g\" role=\"img\" ", kWidth, kHeight) +
      "aria-label=\"" + escapeHtml(panel.title) + "\">\n";
  double yTick = chooseTick(yHigh - yLow);
  if (panel.logarithmic)
    yTick = std::max(1.0, std::round(yTick));
  for (double y = std::ceil(yLow / yTick) * yTick; y <= yHigh + yTick * 1e-9;
       y += yTick) {
    const std::string label =
        formatNumber(std::abs(y) < yTick * 1e-9 ? 0.0 : y);
    text += print("<line class=\"grid\" x1=\"%g\" x2=\"%g\" y1=\"%.1f\" "
                  "y2=\"%.1f\"/>",
                  kLeft, kWidth - kRight, mapY(y), mapY(y)) +
            print("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">", kLeft - 8,
                  mapY(y) + 4);
    if (panel.logarithmic)
      text += "2<tspan dy=\"-5\" font-size=\"9\">" + label + "</tspan>";
    else
      text += label;
    text += "</text>\n";
  }
  const double xTick = std::max(1.0, chooseTick(xHigh - xLow));
  for (double x = std::ceil(xLow / xTick) * xTick; x <= xHigh; x += xTick)
    text += print("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">", mapX(x),
                  kHeight - kBottom + 16) +
            formatNumber(x) + "</text>\n";
  text += print("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">",
                (kLeft + kWidth - kRight) / 2, kHeight - 2) +
          escapeHtml(panel.axis) + "</text>\n";
  for (const Curve &curve : panel.curves) {
    text += std::string("<polyline fill=\"none\" stroke=\"") +
            kColours[curve.colour] +
            "\" stroke-width=\"1.5\" stroke-opacity=\"0.8\" points=\"";
    const char *separator = "";
    for (const Point &point : curve.points) {
      text += separator + print("%.1f,%.1f", mapX(point.x), mapY(point.y));
      separator = " ";
    }
    text += "\"/>\n";
  }
  return text + "</svg>\n";
}

/// The page up to the heading, which is `title`.
inline std::string printHead(const std::string &title) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
         "<meta charset=\"utf-8\">\n<title>" +
         escapeHtml(title) +
         "</title>\n<style>\n"
         "body { font: 14px sans-serif; max-width: 900px; margin: 2em auto; "
         "color: #222; background: #fff; }\n"
         "svg { width: 100%; } text { font-size: 11px; fill: currentColor; }\n"
         ".grid { stroke: currentColor; stroke-opacity: 0.15; }\n"
         ".key { display: inline-block; margin-right: 1.5em; }\n"
         ".key i { display: inline-block; width: 1.6em; height: 3px; "
         "vertical-align: middle; margin-right: 0.4em; }\n"
         "@media (prefers-color-scheme: dark) { body { color: #ddd; "
         "background: #1a1a1a; } }\n"
         "</style>\n</head>\n<body>\n<h1>" +
         escapeHtml(title) + "</h1>\n";
}

} // namespace plot

/// Prints one self-contained HTML page with a curve for each run: the loss, the
/// loss scale and the number of skipped steps so far. It leaves out a panel
/// without data. The metrics are named `loss`, `loss_scale` and `skipped`.
inline std::string printPlot(const std::string &title,
                             const std::vector<RunRecord> &runs) {
  using namespace plot;
  // Each precision has one colour, which its seeds share.
  std::vector<std::string> precisions;
  std::vector<size_t> colours;
  for (const RunRecord &run : runs) {
    auto it = std::find(precisions.begin(), precisions.end(), run.precision);
    colours.push_back(size_t(it - precisions.begin()) % kNumColours);
    if (it == precisions.end())
      precisions.push_back(run.precision);
  }
  std::string text = printHead(title) + "<p>";
  for (size_t i = 0; i < precisions.size(); ++i)
    text += std::string("<span class=\"key\"><i style=\"background: ") +
            kColours[i % kNumColours] + "\"></i>" + escapeHtml(precisions[i]) +
            "</span>";
  text += "</p>\n";
  for (const Panel &panel :
       {buildPanel("Loss", "loss", runs, colours, /*logarithmic=*/false,
                   /*cumulative=*/false),
        buildPanel("Loss scale", "loss_scale", runs, colours,
                   /*logarithmic=*/true, /*cumulative=*/false),
        buildPanel("Skipped steps so far", "skipped", runs, colours,
                   /*logarithmic=*/false, /*cumulative=*/true)})
    if (!panel.curves.empty())
      text += printPanel(panel);
  return text + "</body>\n</html>\n";
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_PLOT_H
