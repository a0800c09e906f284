//===- CountEmitter.cpp - Launches that count values ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that count values become functions of one kernel. A launch of this
// kernel runs all kernels of the program that follow each other without another
// launch between them.
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

using namespace mlir;
using namespace mlir::cuda;

/// The name of the kernel that calls the functions.
static constexpr StringLiteral kCountKernel = "countValues";

LogicalResult ProgramEmitter::emitStatistics(KernelOp kernel,
                                             ArrayRef<unsigned> order) {
  os << "  StatisticsCounter<" << kernel.getNumTargets() << "> counter;\n"
     << "  part.elementwise<" << getWidth(kernel) << ">([&](auto at) {\n";
  emitReads(kernel, order, 4);
  Operation *yield = kernel.getBody().front().getTerminator();
  for (unsigned target = 0; target < kernel.getNumTargets(); ++target) {
    bool isCast =
        yield->getOperand(2 * target) != yield->getOperand(2 * target + 1);
    for (unsigned half = 0; half <= unsigned(isCast); ++half) {
      os << "    auto " << (half ? "cast" : "value") << target << " = ";
      if (failed(emitValue(kernel, order, 2 * target + half, 4)))
        return failure();
      os << ";\n";
    }
    os << "    counter.add(" << target << ", value" << target << ", "
       << (isCast ? "cast" : "value") << target << ");\n";
  }
  os << "  });\n";
  for (unsigned target = 0; target < kernel.getNumTargets(); ++target)
    os << "  counter.finish(part, " << target << ", out" << target << ");\n";
  return success();
}

void ProgramEmitter::emitCountKernel(ArrayRef<KernelOp> functions) {
  if (functions.empty())
    return;
  os << "// Counts values. A table gives each block a function.\n"
     << "__global__ void __launch_bounds__(kThreads) " << kCountKernel
     << "(const CountBatch batch) {\n"
     << "  const int entry = batch.find(blockIdx.x);\n"
     << "  switch (batch.entries[entry].function) {\n";
  for (auto [number, kernel] : llvm::enumerate(functions)) {
    os << "  case " << number << ":\n    return " << kernelNames.lookup(kernel)
       << "(batch.getPart(entry)";
    for (auto [index, parameter] : llvm::enumerate(
             listParameters(kernel, kernelArguments.lookup(kernel))))
      os << ",\n        batch.get<" << parameter.type << ">(entry, " << index
         << ")";
    os << ");\n";
  }
  os << "  }\n}\n\n";
}

bool ProgramEmitter::isCountedBefore(KernelOp kernel) {
  return llvm::any_of(launches, [&](LaunchOpInterface launch) {
    auto other = dyn_cast<KernelOp>(launch.getOperation());
    return other && other.isStatistics() && other->isBeforeInBlock(kernel) &&
           getReader(launch) ==
               getReader(cast<LaunchOpInterface>(kernel.getOperation()));
  });
}

/// The counts that the launch of `group` clears, with their kernels. The first
/// launch clears all predictions. No other value shares their memory.
SmallVector<std::pair<Value, KernelOp>>
ProgramEmitter::getClearedCounts(ArrayRef<KernelOp> group) {
  auto isPrediction = [](Value output) {
    return getBuffer(output).getRole() == "prediction";
  };
  SmallVector<std::pair<Value, KernelOp>> cleared;
  for (KernelOp kernel : group)
    for (Value output : kernel.getOutputs())
      if (!isPrediction(output))
        cleared.push_back({output, kernel});
  KernelOp first = group.front();
  if (isCountedBefore(first))
    return cleared;
  auto reader = getReader(cast<LaunchOpInterface>(first.getOperation()));
  for (LaunchOpInterface launch : launches) {
    auto kernel = dyn_cast<KernelOp>(launch.getOperation());
    if (kernel && kernel.isStatistics() && getReader(launch) == reader)
      for (Value output : kernel.getOutputs())
        if (isPrediction(output))
          cleared.push_back({output, kernel});
  }
  return cleared;
}

void ProgramEmitter::emitCounts(KernelOp first) {
  SmallVector<KernelOp> group;
  for (LaunchOpInterface launch : launches) {
    auto kernel = dyn_cast<KernelOp>(launch.getOperation());
    if (kernel == first || (!group.empty() && kernel && kernel.sharesLaunch()))
      group.push_back(kernel);
    else if (!group.empty())
      break;
  }
  if (auto cleared = getClearedCounts(group); !cleared.empty()) {
    os << "    AMP_RETURN_IF_ERROR(clearCounts(\"" << getName(first)
       << "\", run.stream,\n        {";
    llvm::interleave(
        cleared, os,
        [&](std::pair<Value, KernelOp> counts) {
          auto [output, kernel] = counts;
          os << "{" << getPointer(output) << ", ";
          // Under a guard, no block may store counts.
          if (kernel.getPredicate())
            os << "INT64_MAX}";
          else
            os << numbers.getHost(kernel.getNumReducedElements()) << "}";
        },
        ",\n         ");
    os << "}));\n";
  }
  os << "    AMP_RETURN_IF_ERROR(CountLauncher(\"" << getName(first)
     << "\", run.stream, kernels::" << kCountKernel << ")";
  for (KernelOp kernel : group) {
    os << "\n        .add(" << countFunctions.lookup(kernel) << ", "
       << getWidth(kernel) << ", " << kernel.getNumTargets() << ", "
       << numbers.getHost(kernel.getNumReducedElements()) << ", {";
    StringRef separator = "";
    auto add = [&](const Twine &value) {
      os << separator << "\n            toWord(" << value << ")";
      separator = ",";
    };
    for (ValueRange values :
         {ValueRange(kernel.getOutputs()), ValueRange(kernel.getInputs())})
      for (Value value : values)
        add(getPointer(value));
    if (kernel.getPredicate())
      add(getGuard(kernel));
    for (const KernelArgument &argument : kernelArguments.lookup(kernel)) {
      std::string number = numbers.getArgument(argument);
      add(argument.type == "int64_t" ? number : "double(" + number + ")");
    }
    os << "})";
  }
  os << "\n        .finish());\n";
}
