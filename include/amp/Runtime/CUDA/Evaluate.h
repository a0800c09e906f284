//===- Evaluate.h - Predictions for held-out data ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As amp-run makes and judges them (amp/Execution/Session.h), by a program of
// the forward function, with the parameters of the step.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_EVALUATE_H
#define AMP_RUNTIME_CUDA_EVALUATE_H

#include "amp/Runtime/CUDA/Dataset.h"
#include "amp/Runtime/CUDA/Program.h"

#include <cmath>

namespace amp::cuda {

/// How a prediction is judged: by the loss of the graph, and by the accuracy
/// where it has classes.
struct EvaluationRule {
  enum class Kind : uint8_t { CrossEntropy, MSE, L1 };
  Kind kind = Kind::CrossEntropy;
  /// Of the forward function, and a batch of the step.
  const char *prediction = "", *target = "";
};

/// The forward function of a step.
struct ForwardInfo {
  const ProgramInfo *program = nullptr; ///< null: there is none
  const EvaluationRule *rules = nullptr;
  int numRules = 0;
};

/// The mean cross-entropy of `logits` with `labels`, and the share of rows
/// whose largest logit (the first of equals) is the label's.
inline std::pair<double, double> judgeClasses(const HostArray &logits,
                                              const HostArray &labels) {
  const int64_t rows = labels.count(), classes = logits.shape.back();
  double loss = 0.0;
  int64_t correct = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t best = 0;
    double largest = logits.get(row * classes);
    for (int64_t i = 1; i < classes; ++i) {
      const double value = logits.get(row * classes + i);
      // A NaN is never the largest, and does not hide what follows it.
      if (value > largest || std::isnan(largest)) {
        largest = value;
        best = i;
      }
    }
    double sum = 0.0;
    for (int64_t i = 0; i < classes; ++i)
      sum += std::exp(logits.get(row * classes + i) - largest);
    const int64_t label = labels.getInt(row);
    loss += std::log(sum) + largest - logits.get(row * classes + label);
    correct += best == label && !std::isnan(largest);
  }
  return {loss / double(rows), double(correct) / double(rows)};
}

/// The mean square, or else absolute, difference.
inline double judgeDifference(bool square, const HostArray &output,
                              const HostArray &target) {
  double sum = 0.0;
  for (int64_t i = 0; i < output.count(); ++i) {
    const double difference = output.get(i) - target.get(i);
    sum += square ? difference * difference : std::abs(difference);
  }
  return sum / double(output.count());
}

/// The forward function with the held-out data.
class Evaluator {
public:
  Evaluator(const ProgramInfo &step, const ForwardInfo &info)
      : step(step), info(info) {}

  /// Selects the arrays, named with `prefix`, and creates the program. Says
  /// what is wrong with them.
  Status create(const std::vector<HostArray> &arrays, const std::string &path,
                const std::string &prefix, bool judges,
                const ProgramOptions &options) {
    if (!info.program)
      return makeError(kInvalidArgument,
                       "'%s' has been emitted without a forward function, "
                       "which --eval and --predict need",
                       step.name);
    if (judges && info.numRules == 0)
      return makeError(kInvalidArgument,
                       "there is nothing to evaluate: no loss operation "
                       "compares a prediction of the step with a batch "
                       "argument");
    std::vector<const BufferInfo *> batches;
    for (int i = 0; judges && i < info.numRules; ++i) {
      const BufferInfo *target =
          find(step, info.rules[i].target, Role::Batch, Role::Batch);
      if (!target)
        return makeError(kInvalidArgument,
                         "there is no batch argument '%s' to judge '%s' by",
                         info.rules[i].target, info.rules[i].prediction);
      batches.push_back(target);
    }
    for (int i = 0; i < info.program->numBuffers; ++i) {
      const BufferInfo &buffer = info.program->buffers[i];
      if (buffer.role == Role::Batch) {
        // Labels have their classes in the step.
        const BufferInfo *known =
            find(step, buffer.name, Role::Batch, Role::Batch);
        inputs.push_back(batches.size());
        batches.push_back(known ? known : &buffer);
        batchSize = buffer.rank ? buffer.shape[0] : 1;
      }
    }
    for (int i = 0; i < info.program->numBuffers; ++i) {
      const BufferInfo &buffer = info.program->buffers[i];
      if (buffer.role == Role::Prediction &&
          (buffer.rank == 0 || buffer.shape[0] != batchSize))
        return makeError(kInvalidArgument,
                         "prediction '%s' is %s, expected dimension 0 to count "
                         "the samples of the batch",
                         buffer.name, makeArray(buffer).describe().c_str());
    }
    AMP_RETURN_IF_ERROR(data.create(arrays, path, prefix, batches));
    if (batchSize <= 0)
      return makeError(kInvalidArgument,
                       "the forward function of '%s' reads no batch",
                       step.name);
    forward = std::make_unique<Program>(*info.program);
    return forward->create(options);
  }

  /// The predictions for all samples, with the states of `trained`.
  Status predict(Program &trained, std::vector<HostArray> *predictions) {
    AMP_RETURN_IF_ERROR(trained.checkValues(/*batches=*/false));
    const ProgramInfo &program = *info.program;
    std::vector<int> outputs = forward->buffersOf(Role::Prediction);
    predictions->clear();
    for (int i : outputs) {
      BufferInfo all = program.buffers[i];
      all.shape[0] = data.size();
      predictions->push_back(makeArray(all));
    }
    for (int i = 0; i < program.numBuffers; ++i) {
      const BufferInfo &buffer = program.buffers[i];
      if (buffer.role > Role::Hyperparameter)
        continue;
      const BufferInfo *state =
          find(step, buffer.name, Role::Parameter, Role::Hyperparameter);
      if (!state)
        return makeError(kInvalidArgument,
                         "the forward function reads '%s', which the step "
                         "does not have",
                         buffer.name);
      HostArray value;
      AMP_RETURN_IF_ERROR(
          trained.readBuffer(int(state - step.buffers), &value));
      AMP_RETURN_IF_ERROR(forward->writeBuffer(i, value));
      AMP_RETURN_IF_ERROR(forward->synchronize());
    }
    std::vector<int64_t> rows(size_t(batchSize), 0);
    for (int64_t begin = 0; begin < data.size(); begin += batchSize) {
      const int64_t count = std::min(batchSize, data.size() - begin);
      // The last batch is filled up with its last sample.
      for (int64_t i = 0; i < batchSize; ++i)
        rows[size_t(i)] = begin + std::min(i, count - 1);
      for (size_t i = 0; i < inputs.size(); ++i)
        AMP_RETURN_IF_ERROR(forward->fillBatch(
            int(i), data.getBytes(inputs[i], batchSize), [&](void *batch) {
              data.gather(inputs[i], rows.data(), batchSize, batch);
            }));
      AMP_RETURN_IF_ERROR(forward->run(1));
      for (size_t i = 0; i < outputs.size(); ++i) {
        HostArray part;
        AMP_RETURN_IF_ERROR(forward->readBuffer(outputs[i], &part));
        const size_t rowBytes = part.bytes.size() / size_t(batchSize);
        std::memcpy(&(*predictions)[i].bytes[size_t(begin) * rowBytes],
                    part.bytes.data(), size_t(count) * rowBytes);
      }
    }
    return Status();
  }

  /// Adds "eval loss" and "eval accuracy", with the name of the prediction
  /// where there are several.
  Status judge(const std::vector<HostArray> &predictions,
               std::vector<std::pair<std::string, double>> *results) const {
    for (int i = 0; i < info.numRules; ++i) {
      const EvaluationRule &rule = info.rules[i];
      const HostArray *output = findArray(predictions, rule.prediction);
      const HostArray &target = data.getArray(size_t(i));
      bool classes = rule.kind == EvaluationRule::Kind::CrossEntropy;
      if (!output || output->shape.empty() ||
          output->count() !=
              target.count() * (classes ? output->shape.back() : 1))
        return makeError(kInvalidArgument, "prediction '%s' does not fit '%s'",
                         rule.prediction, rule.target);
      std::string of =
          info.numRules > 1 ? std::string(" of ") + rule.prediction : "";
      if (classes) {
        auto [loss, accuracy] = judgeClasses(*output, target);
        results->emplace_back("eval loss" + of, loss);
        results->emplace_back("eval accuracy" + of, accuracy);
      } else {
        bool square = rule.kind == EvaluationRule::Kind::MSE;
        results->emplace_back("eval loss" + of,
                              judgeDifference(square, *output, target));
      }
    }
    return Status();
  }

private:
  /// The buffer of that name with a role of `first` to `last`, or null.
  static const BufferInfo *find(const ProgramInfo &program, const char *name,
                                Role first, Role last) {
    for (int i = 0; i < program.numBuffers; ++i)
      if (program.buffers[i].role >= first && program.buffers[i].role <= last &&
          std::string(program.buffers[i].name) == name)
        return &program.buffers[i];
    return nullptr;
  }

  const ProgramInfo &step;
  const ForwardInfo info;
  std::unique_ptr<Program> forward;
  /// The targets of the rules, then what the forward function reads.
  Dataset data;
  /// Where in `data` each batch of the forward function is.
  std::vector<size_t> inputs;
  int64_t batchSize = 0;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_EVALUATE_H
