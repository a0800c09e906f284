//===- CallEmitter.cpp - Operations of the caller -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::cuda;

void ProgramEmitter::emitCallOperands(CallOp call) {
  SmallVector<Value> values(call.getInputs());
  llvm::append_range(values, call.getOutputs());
  SmallVector<int64_t> extents;
  for (Value value : values)
    llvm::append_range(extents, shapedType(value).getShape());
  os << "    const int64_t extents[] = {";
  llvm::interleaveComma(extents, os,
                        [&](int64_t extent) { os << numbers.getHost(extent); });
  // C++ has no empty arrays.
  os << (extents.empty() ? "0" : ", 0")
     << "};\n    const CallTensor tensors[] = {\n";
  size_t first = 0;
  for (Value value : values) {
    ShapedType type = shapedType(value);
    os << "        {" << getPointer(value)
       << ", Type::" << getTypeEnumerator(type.getElementType()) << ", "
       << type.getRank() << ", extents + " << first << "},\n";
    first += type.getRank();
  }
  os << "    };\n";
  if (!call.getSeeds())
    return;
  SmallVector<int64_t> positions(*call.getSeeds());
  llvm::append_range(positions, *call.getWrt());
  os << "    static const int64_t numbers[] = {";
  llvm::interleaveComma(positions, os);
  os << "};\n";
}

void ProgramEmitter::emitCall(CallOp call) {
  os << "callOperation(run, {" << quote(call.getCallee()) << ", tensors, "
     << call.getInputs().size() << ", " << call.getOutputs().size() << ", "
     << (call.getSeeds() ? "numbers" : "nullptr") << ", "
     << call.getSeeds().value_or(ArrayRef<int64_t>()).size() << "})";
}

void ProgramEmitter::beginPart(unsigned part) {
  if (numCalls == 0)
    os << "Status enqueue(const StepRun &run) {\n";
  else
    os << (part % 2 ? "// A call, on the host.\n" : "") << "Status part" << part
       << "([[maybe_unused]] const StepRun &run) {\n";
}

void ProgramEmitter::endPart() { os << "  return Status();\n}\n\n"; }

void ProgramEmitter::emitPartList(unsigned count) {
  os << "Status enqueue(const StepRun &run) {\n  return enqueueParts(run, {";
  llvm::interleaveComma(llvm::seq(count), os,
                        [&](unsigned part) { os << "part" << part; });
  os << "});\n}\n\n";
}

void ProgramEmitter::emitCallees() {
  if (numCalls == 0)
    return;
  os << "const char *const kCallees[] = {\n";
  for (LaunchOpInterface launch : launches)
    if (auto call = dyn_cast<CallOp>(launch.getOperation()))
      os << "    " << quote(call.getCallee()) << ",\n";
  os << "};\n\n";
}
