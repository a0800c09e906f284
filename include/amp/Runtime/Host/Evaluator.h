//===- Evaluator.h - Predictions for held-out data --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_EVALUATOR_H
#define AMP_RUNTIME_HOST_EVALUATOR_H

#include "amp/Runtime/Host/Step.h"

#include <cmath>

namespace amphost {

namespace evaluation {

/// The mean cross-entropy of `logits` with `labels`, and the fraction of rows
/// whose largest logit (the first of equals) is that of the label.
inline std::pair<double, double> judgeClasses(const Array &logits,
                                              const Array &labels) {
  const int64_t rows = labels.getNumElements(),
                classes = logits.getShape().back();
  double loss = 0.0;
  int64_t correct = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t best = 0;
    double largest = logits.getDouble(row * classes);
    for (int64_t i = 1; i < classes; ++i) {
      const double value = logits.getDouble(row * classes + i);
      // A NaN is never the largest and does not hide the elements behind it.
      if (value > largest || std::isnan(largest)) {
        largest = value;
        best = i;
      }
    }
    double sum = 0.0;
    for (int64_t i = 0; i < classes; ++i)
      sum += std::exp(logits.getDouble(row * classes + i) - largest);
    const int64_t label = labels.getInt(row);
    loss += std::log(sum) + largest - logits.getDouble(row * classes + label);
    correct += best == label && !std::isnan(largest);
  }
  return {loss / double(rows), double(correct) / double(rows)};
}

/// The mean square or absolute difference.
inline double judgeDifference(bool square, const Array &output,
                              const Array &target) {
  double sum = 0.0;
  const int64_t count = output.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    const double difference = output.getDouble(i) - target.getDouble(i);
    sum += square ? difference * difference : std::abs(difference);
  }
  return sum / double(count);
}

} // namespace evaluation

/// The forward function of a step and the held-out data.
class Evaluator {
public:
  /// Creates the forward function and selects its arrays, whose names begin
  /// with `prefix`. With `judges`, selects the arrays of the rules too. Fails
  /// if an array is missing or does not fit.
  inline Status create(Step &step, const ArrayMap &arrays,
                       const std::string &path, const std::string &prefix,
                       bool judges);

  /// Computes the predictions for all samples with the states of `trained`.
  /// Only whole batches run. The last one repeats its last sample.
  inline Status predict(Step &trained, ArrayMap *predictions);

  /// Adds `eval loss`, computed in f64, and for classes `eval accuracy`. The
  /// names contain the prediction if there are several.
  inline Status judge(const ArrayMap &predictions, Results *results) const;

private:
  inline Status addTargets(const Step &step, std::vector<TensorInfo> *batches);
  inline Status runBatch(int64_t begin, ArrayMap *predictions);

  /// The batch size of a forward function that takes any.
  static constexpr int64_t kBatch = 512;

  std::unique_ptr<Step> forward;
  std::vector<EvaluationRule> rules;
  /// The targets of the rules, then the inputs of the forward function.
  Dataset data;
  size_t numTargets = 0;
  int64_t batchSize = 0;
};

inline Status Evaluator::addTargets(const Step &step,
                                    std::vector<TensorInfo> *batches) {
  rules = step.getEvaluationRules();
  if (rules.empty())
    return makeError(kInvalidArgument,
                     "there is nothing to evaluate: no loss operation compares "
                     "a prediction of the step with a batch argument");
  for (const EvaluationRule &rule : rules) {
    const size_t before = batches->size();
    for (const TensorInfo &batch : step.getBatches())
      if (batch.name == rule.target)
        batches->push_back(batch);
    if (batches->size() == before)
      return makeError(kInvalidArgument,
                       "there is no batch argument '%s' to judge '%s' by",
                       rule.target.c_str(), rule.prediction.c_str());
  }
  return Status();
}

inline Status Evaluator::create(Step &step, const ArrayMap &arrays,
                                const std::string &path,
                                const std::string &prefix, bool judges) {
  std::vector<TensorInfo> batches;
  rules.clear();
  if (judges)
    AMP_RETURN_IF_ERROR(addTargets(step, &batches));
  numTargets = batches.size();
  AMP_RETURN_IF_ERROR(step.createForward(&forward));
  batchSize = forward->getFixedBatch();
  for (size_t i : forward->find(Role::Prediction)) {
    const TensorInfo &tensor = forward->getTensors()[i];
    if (tensor.shape.empty() || tensor.shape[0] != (batchSize ? batchSize : -1))
      return makeError(kInvalidArgument,
                       "prediction '%s' is %s, expected dimension 0 to count "
                       "the samples of the batch",
                       tensor.name.c_str(), tensor.describe().c_str());
  }
  for (TensorInfo batch : forward->getBatches()) {
    // The step knows the number of classes of labels.
    for (const TensorInfo &known : step.getBatches())
      if (known.name == batch.name)
        batch.classes = known.classes;
    batches.push_back(std::move(batch));
  }
  if (batches.size() == numTargets)
    return makeError(kInvalidArgument, "the forward function reads no batch");
  AMP_RETURN_IF_ERROR(data.create(arrays, path, prefix, batches));
  if (batchSize == 0)
    batchSize = std::min(kBatch, data.size());
  return Status();
}

inline Status Evaluator::runBatch(int64_t begin, ArrayMap *predictions) {
  std::vector<int64_t> rows;
  const int64_t count = std::min(batchSize, data.size() - begin);
  for (int64_t i = 0; i < batchSize; ++i)
    rows.push_back(begin + std::min(i, count - 1));
  size_t input = numTargets;
  for (size_t i : forward->find(Role::Batch)) {
    AMP_RETURN_IF_ERROR(forward->fill(
        i, batchSize, data.getBytes(input, batchSize), [&](void *batch) {
          data.gather(input, rows.data(), batchSize, batch);
        }));
    ++input;
  }
  AMP_RETURN_IF_ERROR(forward->run(1));
  for (size_t i : forward->find(Role::Prediction)) {
    Array part;
    AMP_RETURN_IF_ERROR(forward->read(i, &part));
    Array &whole = *predictions->lookup(forward->getTensors()[i].name);
    const size_t rowBytes = part.getNumBytes() / size_t(batchSize);
    std::memcpy(whole.as<char>() + size_t(begin) * rowBytes, part.data(),
                size_t(count) * rowBytes);
  }
  return Status();
}

inline Status Evaluator::predict(Step &trained, ArrayMap *predictions) {
  AMP_RETURN_IF_ERROR(forward->prepare(batchSize));
  AMP_RETURN_IF_ERROR(forward->useStates(trained));
  *predictions = ArrayMap();
  for (size_t i : forward->find(Role::Prediction)) {
    const TensorInfo &tensor = forward->getTensors()[i];
    Shape shape = tensor.shape;
    shape[0] = data.size();
    predictions->set(tensor.name, Array(tensor.type, shape));
  }
  for (int64_t begin = 0; begin < data.size(); begin += batchSize)
    AMP_RETURN_IF_ERROR(runBatch(begin, predictions));
  return Status();
}

inline Status Evaluator::judge(const ArrayMap &predictions,
                               Results *results) const {
  for (size_t i = 0; i < rules.size(); ++i) {
    const EvaluationRule &rule = rules[i];
    const Array *output = predictions.lookup(rule.prediction);
    const Array &target = data.getArray(i);
    const bool classes = rule.kind == EvaluationRule::Kind::CrossEntropy;
    if (!output || output->getShape().empty() ||
        output->getNumElements() !=
            target.getNumElements() * (classes ? output->getShape().back() : 1))
      return makeError(kInvalidArgument, "prediction '%s' does not fit '%s'",
                       rule.prediction.c_str(), rule.target.c_str());
    const std::string of = rules.size() > 1 ? " of " + rule.prediction : "";
    if (classes) {
      const auto [loss, accuracy] = evaluation::judgeClasses(*output, target);
      results->emplace_back("eval loss" + of, loss);
      results->emplace_back("eval accuracy" + of, accuracy);
    } else {
      const bool square = rule.kind == EvaluationRule::Kind::MSE;
      results->emplace_back("eval loss" + of, evaluation::judgeDifference(
                                                  square, *output, target));
    }
  }
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_EVALUATOR_H
