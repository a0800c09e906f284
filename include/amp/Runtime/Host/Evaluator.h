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

/// Sums over the elements that a rule has judged.
struct Judgement {
  double loss = 0.0;
  int64_t correct = 0, count = 0;
};

/// Adds the cross-entropy of one row of logits with a label, and whether its
/// largest logit (the first of equals) belongs to the label.
inline void judgeRow(const std::vector<double> &logits, int64_t label,
                     Judgement *judgement) {
  size_t best = 0;
  // A NaN is never the largest and does not hide the elements after it.
  for (size_t i = 1; i < logits.size(); ++i)
    if (logits[i] > logits[best] || std::isnan(logits[best]))
      best = i;
  const double largest = logits[best];
  double sum = 0.0;
  for (double value : logits)
    sum += std::exp(value - largest);
  judgement->loss += std::log(sum) + largest - logits[size_t(label)];
  judgement->correct += int64_t(best) == label && !std::isnan(largest);
  ++judgement->count;
}

/// Adds the cross-entropy of `rows` rows of logits with the labels from `begin`
/// on.
inline void judgeClasses(const Array &logits, const Array &labels,
                         int64_t begin, int64_t rows, Judgement *judgement) {
  const int64_t classes = logits.getShape().back();
  std::vector<double> row;
  row.resize(size_t(classes));
  for (int64_t i = 0; i < rows; ++i) {
    logits.getDoubles(i * classes, classes, row.data());
    judgeRow(row, labels.getInt(begin + i), judgement);
  }
}

/// Adds the square or absolute differences of `count` elements from those of
/// `target` from `begin` on.
inline void judgeDifference(bool square, const Array &output,
                            const Array &target, int64_t begin, int64_t count,
                            Judgement *judgement) {
  std::vector<double> values, expected;
  values.resize(size_t(count));
  expected.resize(size_t(count));
  output.getDoubles(0, count, values.data());
  target.getDoubles(begin, count, expected.data());
  for (size_t i = 0; i < values.size(); ++i) {
    const double difference = values[i] - expected[i];
    judgement->loss += square ? difference * difference : std::abs(difference);
  }
  judgement->count += count;
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
  ///
  /// If `create` selected the arrays of the rules, adds `eval loss`, computed
  /// in f64, and for classes `eval accuracy` to `results`. The names contain
  /// the prediction if there are several. `predictions` receives the
  /// predictions; if it is null, those of one batch at a time are kept.
  inline Status run(Step &trained, ArrayMap *predictions, Results *results);

private:
  inline Status addTargets(const Step &step, std::vector<TensorInfo> *batches);
  inline Status runBatch(int64_t begin, ArrayMap *predictions);
  inline Status judge(const std::string &name, const Array &output,
                      int64_t begin, int64_t count);
  inline Status addResults(Results *results) const;

  /// The batch size of a forward function that takes any.
  static constexpr int64_t kBatch = 512;

  std::unique_ptr<Step> forward;
  std::vector<EvaluationRule> rules;
  std::vector<evaluation::Judgement> judgements; ///< of the rules
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
    const std::string &name = forward->getTensors()[i].name;
    AMP_RETURN_IF_ERROR(judge(name, part, begin, count));
    if (!predictions)
      continue;
    Array &whole = *predictions->lookup(name);
    const size_t rowBytes = part.getNumBytes() / size_t(batchSize);
    std::memcpy(whole.as<char>() + size_t(begin) * rowBytes, part.data(),
                size_t(count) * rowBytes);
  }
  return Status();
}

/// Judges the first `count` samples of the prediction `name`, which are those
/// of the data from `begin` on.
inline Status Evaluator::judge(const std::string &name, const Array &output,
                               int64_t begin, int64_t count) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const EvaluationRule &rule = rules[i];
    if (rule.prediction != name)
      continue;
    const Array &target = data.getArray(i);
    const int64_t perSample = target.getNumElements() / data.size();
    const bool classes = rule.kind == EvaluationRule::Kind::CrossEntropy;
    if (output.getShape().empty() ||
        output.getNumElements() !=
            batchSize * perSample * (classes ? output.getShape().back() : 1))
      return makeError(kInvalidArgument, "prediction '%s' does not fit '%s'",
                       name.c_str(), rule.target.c_str());
    const int64_t first = begin * perSample, elements = count * perSample;
    if (classes)
      evaluation::judgeClasses(output, target, first, elements, &judgements[i]);
    else
      evaluation::judgeDifference(rule.kind == EvaluationRule::Kind::MSE,
                                  output, target, first, elements,
                                  &judgements[i]);
  }
  return Status();
}

inline Status Evaluator::run(Step &trained, ArrayMap *predictions,
                             Results *results) {
  AMP_RETURN_IF_ERROR(forward->prepare(batchSize));
  AMP_RETURN_IF_ERROR(forward->useStates(trained));
  judgements.assign(rules.size(), {});
  if (predictions) {
    *predictions = ArrayMap();
    for (size_t i : forward->find(Role::Prediction)) {
      const TensorInfo &tensor = forward->getTensors()[i];
      Shape shape = tensor.shape;
      shape[0] = data.size();
      predictions->set(tensor.name, Array(tensor.type, shape));
    }
  }
  for (int64_t begin = 0; begin < data.size(); begin += batchSize)
    AMP_RETURN_IF_ERROR(runBatch(begin, predictions));
  return addResults(results);
}

inline Status Evaluator::addResults(Results *results) const {
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string of = rules.size() > 1 ? " of " + rules[i].prediction : "";
    const evaluation::Judgement &judgement = judgements[i];
    if (judgement.count == 0)
      return makeError(kInvalidArgument,
                       "the forward function has no prediction '%s'",
                       rules[i].prediction.c_str());
    const double count = double(judgement.count);
    results->emplace_back("eval loss" + of, judgement.loss / count);
    if (rules[i].kind == EvaluationRule::Kind::CrossEntropy)
      results->emplace_back("eval accuracy" + of,
                            double(judgement.correct) / count);
  }
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_EVALUATOR_H
