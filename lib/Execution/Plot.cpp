//===- Plot.cpp - Training curves as one HTML page ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Files.h"
#include "amp/Execution/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir::amp;

static constexpr double kWidth = 860, kHeight = 260;
static constexpr double kLeft = 70, kRight = 20, kTop = 16, kBottom = 34;
/// More points than pixels only make the file large.
static constexpr size_t kMaxPoints = 800;
/// Distinguishable without red against green.
static constexpr const char *kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                           "#cc79a7", "#e69f00", "#56b4e9"};

namespace {
struct Point {
  double x, y;
};

struct Curve {
  size_t colour;
  std::vector<Point> points;
};

/// One diagram: curves over the step number.
struct Panel {
  std::string title;
  bool logarithmic = false;
  std::vector<Curve> curves;
};
} // namespace

static std::string escapeHtml(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printHTMLEscaped(text, os);
  return escaped;
}

/// Averages neighbouring points down to kMaxPoints.
static std::vector<Point> thin(std::vector<Point> points) {
  if (points.size() <= kMaxPoints)
    return points;
  std::vector<Point> result;
  for (size_t i = 0; i < kMaxPoints; ++i) {
    size_t begin = i * points.size() / kMaxPoints;
    size_t end = (i + 1) * points.size() / kMaxPoints;
    Point mean = {0, 0};
    for (size_t j = begin; j < end; ++j) {
      mean.x += points[j].x / double(end - begin);
      mean.y += points[j].y / double(end - begin);
    }
    result.push_back(mean);
  }
  return result;
}

/// Collects `metric` of every run; `cumulative` adds the values up. Non-finite
/// values, and values that a logarithm does not take, leave a gap.
static Panel buildPanel(llvm::StringRef title, llvm::StringRef metric,
                        llvm::ArrayRef<RunRecord> runs,
                        llvm::ArrayRef<size_t> colours, bool logarithmic,
                        bool cumulative) {
  Panel panel{title.str(), logarithmic, {}};
  for (auto [run, colour] : llvm::zip_equal(runs, colours)) {
    std::optional<size_t> column = run.findMetric(metric);
    if (!column)
      continue;
    std::vector<Point> points;
    double sum = 0.0;
    for (const StepRecord &step : run.steps) {
      double value = step.values[*column];
      if (cumulative)
        value = sum += value;
      if (std::isfinite(value) && (!logarithmic || value > 0))
        points.push_back(
            {double(step.step), logarithmic ? std::log2(value) : value});
    }
    if (!points.empty())
      panel.curves.push_back({colour, thin(std::move(points))});
  }
  return panel;
}

/// A step of 1, 2 or 5 times a power of ten that gives about five ticks.
static double chooseTick(double range) {
  double raw = range / 5;
  double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power)
      return factor * power;
  return 10 * power;
}

static void printPanel(const Panel &panel, llvm::raw_ostream &os) {
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

  os << "<h2>" << escapeHtml(panel.title) << "</h2>\n";
  os << llvm::format("<svg viewBox=\"0 0 %g %g\" role=\"img\" ", kWidth,
                     kHeight)
     << "aria-label=\"" << escapeHtml(panel.title) << "\">\n";
  double yTick = chooseTick(yHigh - yLow);
  if (panel.logarithmic)
    yTick = std::max(1.0, std::round(yTick));
  for (double y = std::ceil(yLow / yTick) * yTick; y <= yHigh + yTick * 1e-9;
       y += yTick) {
    std::string label = formatNumber(std::abs(y) < yTick * 1e-9 ? 0.0 : y);
    os << llvm::format("<line class=\"grid\" x1=\"%g\" x2=\"%g\" y1=\"%.1f\" "
                       "y2=\"%.1f\"/>",
                       kLeft, kWidth - kRight, mapY(y), mapY(y))
       << llvm::format("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">",
                       kLeft - 8, mapY(y) + 4);
    if (panel.logarithmic)
      os << "2<tspan dy=\"-5\" font-size=\"9\">" << label << "</tspan>";
    else
      os << label;
    os << "</text>\n";
  }
  double xTick = std::max(1.0, chooseTick(xHigh - xLow));
  for (double x = std::ceil(xLow / xTick) * xTick; x <= xHigh; x += xTick)
    os << llvm::format("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">",
                       mapX(x), kHeight - kBottom + 16)
       << formatNumber(x) << "</text>\n";
  os << llvm::format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">step"
                     "</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 2);
  for (const Curve &curve : panel.curves) {
    os << "<polyline fill=\"none\" stroke=\"" << kColours[curve.colour]
       << "\" stroke-width=\"1.5\" stroke-opacity=\"0.8\" points=\"";
    llvm::interleave(
        curve.points, os,
        [&](const Point &point) {
          os << llvm::format("%.1f,%.1f", mapX(point.x), mapY(point.y));
        },
        " ");
    os << "\"/>\n";
  }
  os << "</svg>\n";
}

llvm::Error mlir::amp::writePlot(llvm::StringRef path, llvm::StringRef title,
                                 llvm::ArrayRef<RunRecord> runs) {
  // One colour for each precision; its seeds share it.
  std::vector<std::string> precisions;
  llvm::SmallVector<size_t> colours;
  for (const RunRecord &run : runs) {
    if (!llvm::is_contained(precisions, run.precision))
      precisions.push_back(run.precision);
    colours.push_back(
        (llvm::find(precisions, run.precision) - precisions.begin()) %
        std::size(kColours));
  }
  Panel panels[] = {buildPanel("Loss", "loss", runs, colours,
                               /*logarithmic=*/false,
                               /*cumulative=*/false),
                    buildPanel("Loss scale", "loss_scale", runs, colours,
                               /*logarithmic=*/true, /*cumulative=*/false),
                    buildPanel("Skipped steps so far", "skipped", runs, colours,
                               /*logarithmic=*/false, /*cumulative=*/true)};

  return writeAtomically(path, [&](llvm::raw_ostream &os) {
    os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
       << "<meta charset=\"utf-8\">\n<title>" << escapeHtml(title)
       << "</title>\n<style>\n"
       << "body { font: 14px sans-serif; max-width: 900px; margin: 2em auto; "
          "color: #222; background: #fff; }\n"
       << "svg { width: 100%; } text { font-size: 11px; fill: currentColor; }\n"
       << ".grid { stroke: currentColor; stroke-opacity: 0.15; }\n"
       << ".key { display: inline-block; margin-right: 1.5em; }\n"
       << ".key i { display: inline-block; width: 1.6em; height: 3px; "
          "vertical-align: middle; margin-right: 0.4em; }\n"
       << "@media (prefers-color-scheme: dark) { body { color: #ddd; "
          "background: #1a1a1a; } }\n"
       << "</style>\n</head>\n<body>\n<h1>" << escapeHtml(title)
       << "</h1>\n<p>";
    for (auto [index, precision] : llvm::enumerate(precisions))
      os << "<span class=\"key\"><i style=\"background: "
         << kColours[index % std::size(kColours)] << "\"></i>"
         << escapeHtml(precision) << "</span>";
    os << "</p>\n";
    for (const Panel &panel : panels)
      if (!panel.curves.empty())
        printPanel(panel, os);
    os << "</body>\n</html>\n";
    return llvm::Error::success();
  });
}
