//===- JITStep.h - A step that runs on the CPU ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_JITSTEP_H
#define AMP_EXECUTION_JITSTEP_H

#include "amp/Execution/StepProgram.h"
#include "amp/Runtime/Host/Step.h"

namespace mlir::amp {

/// The results for the most bytes that a training step allocates at one time,
/// without its arguments and results: by the lowered code, and as counted.
inline constexpr llvm::StringLiteral kPlannedBytes = "peak bytes planned";
inline constexpr llvm::StringLiteral kAllocatedBytes = "peak bytes allocated";

/// The training step of a program, or its forward function, and its state.
class JITStep : public host::Step {
public:
  /// The training step.
  explicit JITStep(StepProgram &program)
      : JITStep(program, program.getTensors(),
                std::make_shared<host::ArrayMap>(), /*isForward=*/false) {}

  const std::vector<host::TensorInfo> &getTensors() const override {
    return tensors;
  }
  host::CheckpointIdentity getIdentity() const override;
  int64_t getFixedBatch() const override {
    return program.getStaticBatch().value_or(0);
  }
  host::Status prepare(int64_t samples) override;
  host::Status read(size_t tensor, host::Array *value) override;
  host::Status write(size_t tensor, host::Array value) override;
  host::Status fill(size_t tensor, int64_t samples, size_t bytes,
                    const std::function<void(void *)> &fill) override;
  host::Status run(int steps) override;
  host::Status wait() override { return host::Status(); }
  bool isAsynchronous() const override { return false; }
  host::Status readMetrics(std::vector<double> *values) override;
  void addMemory(host::Results *results) override;
  host::Status createForward(std::unique_ptr<host::Step> *forward) override;
  std::vector<host::EvaluationRule> getEvaluationRules() const override;
  /// A forward function reads the states of the step that created it.
  host::Status useStates(host::Step &) override { return host::Status(); }

  /// The state or hyperparameter `name`, or null.
  const host::Array *getValue(llvm::StringRef name) const {
    return values->lookup(name.str());
  }
  /// The prediction `name` of the last run, or null.
  const host::Array *getPrediction(llvm::StringRef name) const;

private:
  JITStep(StepProgram &program, std::vector<host::TensorInfo> tensors,
          std::shared_ptr<host::ArrayMap> values, bool isForward)
      : program(program), tensors(std::move(tensors)),
        values(std::move(values)), isForward(isForward) {}

  /// Compiles the function for batches of `samples` if necessary.
  host::Status choose(int64_t samples);

  StepProgram &program;
  std::vector<host::TensorInfo> tensors;
  /// States and hyperparameters.
  std::shared_ptr<host::ArrayMap> values;
  bool isForward;
  /// The function for the last batch, by its size. For each function: the
  /// batches, metrics and predictions, by binding.
  BoundStep *current = nullptr;
  int64_t currentSamples = 0;
  std::map<const BoundStep *, std::vector<host::Array>> buffers;
  int64_t plannedBytes = 0, allocatedBytes = 0;
  bool isPlanned = true;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_JITSTEP_H
