//===- ScaleSweep.cpp - Runs with several loss scales ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/ScaleSweep.h"

#include "amp/Runtime/Host/Plot.h"
#include "amp/Runtime/Host/Trainer.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace mlir::amp;

llvm::Expected<std::vector<double>>
mlir::amp::parseSweptScales(llvm::StringRef text) {
  constexpr size_t kMostScales = 64;
  double from = 1, to = 16777216, factor = 16;
  auto [first, rest] = text.split(':');
  auto [second, third] = rest.split(':');
  auto read = [](llvm::StringRef part, double &number) {
    return !part.getAsDouble(number) && number > 0 && std::isfinite(number);
  };
  bool isRight =
      text.empty() ||
      (read(first, from) && read(second, to) && from <= to &&
       (text.count(':') == 1 || (read(third, factor) && factor > 1)));
  if (!isRight)
    return makeError("wrong value of --sweep-scale: '{0}', expected from:to or "
                     "from:to:factor with positive numbers, such as "
                     "1:65536:4",
                     text);
  std::vector<double> scales;
  for (double scale = from; scale <= to * (1 + 1e-9); scale *= factor) {
    if (scales.size() == kMostScales)
      return makeError("--sweep-scale has more than {0} scales", kMostScales);
    scales.push_back(scale);
  }
  return scales;
}

/// Returns the result `name` of a run, or NaN.
static double getResult(const host::RunRecord &record, llvm::StringRef name) {
  for (const auto &[key, value] : record.results)
    if (name == key)
      return value;
  return std::nan("");
}

void ScaleSweep::setReference(std::vector<MeasuredRange> measured,
                              const host::RunRecord &record) {
  ranges = std::move(measured);
  referenceLoss = getResult(record, "final loss");
}

void ScaleSweep::add(double scale, const host::RunRecord &record) {
  Row row = {scale, 0,
             0,     int64_t(record.steps.size()),
             0,     getResult(record, "final loss")};
  double zeros = 0, elements = 0, overflows = 0, values = 0;
  for (const MeasuredRange &range : ranges) {
    if (!range.isScaled() || range.isParameterGradient)
      continue;
    RoundingLoss loss =
        measureLoss(range.statistics, LowFormat::getF16(), scale, /*margin=*/1);
    double count = double(range.statistics.getNonZero());
    zeros += loss.zeroShare * count;
    elements += count;
    overflows += loss.overflows;
    ++values;
  }
  row.zeroShare = elements > 0 ? zeros / elements : 0;
  row.overflowShare = values > 0 ? overflows / values : 0;
  std::optional<size_t> skipped = record.findMetric(host::kSkippedMetric);
  std::optional<size_t> loss = record.findMetric("loss");
  for (const host::StepRecord &step : record.steps)
    row.skipped += (skipped && step.values[*skipped] != 0) ||
                   (loss && !std::isfinite(step.values[*loss]));
  rows.push_back(row);
}

std::optional<double> ScaleSweep::choose() const {
  const Row *best = nullptr;
  auto key = [](const Row &row) {
    return std::make_tuple(row.skipped, row.overflowShare, row.zeroShare,
                           -row.scale);
  };
  for (const Row &row : rows)
    if (row.skipped < row.steps && std::isfinite(row.loss) &&
        (!best || key(row) < key(*best)))
      best = &row;
  return best ? std::optional<double>(best->scale) : std::nullopt;
}

void ScaleSweep::print(llvm::raw_ostream &os) const {
  os << "loss scale  gradients to zero  values beyond f16  bad steps  "
        "final loss\n";
  for (const Row &row : rows)
    os << llvm::format("%10.4g%18.3f%%%18.1f%%%7d of %d  ", row.scale,
                       100 * row.zeroShare, 100 * row.overflowShare,
                       int(row.skipped), int(row.steps))
       << host::formatNumber(row.loss) << '\n';
  if (referenceLoss)
    os << "final loss in f32: " << host::formatNumber(*referenceLoss) << '\n';
  if (std::optional<double> best = choose())
    os << "choose --loss-scale=" << host::formatNumber(*best)
       << ", or a dynamic scale that starts there\n";
  else if (referenceLoss && !std::isfinite(*referenceLoss))
    os << "no scale helps: the loss is not finite in f32 either; see --explain "
          "for the operation that fails\n";
  else
    os << "no scale helps: with each, all steps were skipped or the last loss "
          "is not finite; see --explain for the operation that fails\n";
}

void ScaleSweep::writeJSON(llvm::StringRef title, llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, 1);
  auto number = [&](llvm::StringRef key, double value) {
    if (std::isfinite(value))
      json.attribute(key, value);
    else
      json.attribute(key, nullptr);
  };
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("model", llvm::json::fixUTF8(title));
    if (referenceLoss)
      number("f32Loss", *referenceLoss);
    if (std::optional<double> best = choose())
      json.attribute("chosen", *best);
    json.attributeArray("runs", [&] {
      for (const Row &row : rows)
        json.object([&] {
          json.attribute("lossScale", row.scale);
          json.attribute("zeroShare", row.zeroShare);
          json.attribute("overflowShare", row.overflowShare);
          json.attribute("steps", row.steps);
          json.attribute("badSteps", row.skipped);
          number("loss", row.loss);
        });
    });
  });
  os << '\n';
}

void ScaleSweep::writePage(llvm::StringRef title, llvm::raw_ostream &os) const {
  namespace plot = host::plot;
  auto makePanel = [&](const char *name, auto get) {
    plot::Panel panel{
        name, /*logarithmic=*/false, {}, "log2 of the loss scale"};
    plot::Curve curve{0, {}};
    for (const Row &row : rows)
      if (double value = get(row); std::isfinite(value))
        curve.points.push_back({std::log2(row.scale), value});
    if (!curve.points.empty())
      panel.curves.push_back(std::move(curve));
    return panel;
  };
  plot::Panel loss = makePanel("Final loss (blue), in f32 (orange)",
                               [](const Row &row) { return row.loss; });
  if (referenceLoss && !loss.curves.empty())
    loss.curves.push_back({1,
                           {{std::log2(rows.front().scale), *referenceLoss},
                            {std::log2(rows.back().scale), *referenceLoss}}});
  os << plot::printHead("Loss scales of " + title.str());
  if (std::optional<double> best = choose())
    os << "<p>The fewest bad steps, overflows and zeros: --loss-scale="
       << host::formatNumber(*best) << "</p>\n";
  for (const plot::Panel &panel :
       {loss,
        makePanel("Percent of the elements of gradients that become zero",
                  [](const Row &row) { return 100 * row.zeroShare; }),
        makePanel("Percent of the gradients that leave the range of f16",
                  [](const Row &row) { return 100 * row.overflowShare; }),
        makePanel("Steps that were skipped or not finite",
                  [](const Row &row) { return double(row.skipped); })})
    if (!panel.curves.empty())
      os << plot::printPanel(panel);
  os << "</body>\n</html>\n";
}
