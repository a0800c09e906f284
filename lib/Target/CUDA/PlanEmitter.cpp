//===- PlanEmitter.cpp - Plans of cuDNN -----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {
/// A pointer of a plan: its name in the interface, the buffer, and the element
/// at which it begins.
struct PlanPointer {
  StringRef name;
  Value buffer;
  int64_t offset = 0;
};
} // namespace

/// The pointers of the bias and the lengths, inputs from `first` on.
template <typename OpTy>
static void addMasks(OpTy op, unsigned first,
                     SmallVectorImpl<PlanPointer> &pointers) {
  ValueRange inputs = op.getInputs();
  if (op.getBias())
    pointers.push_back({"BIAS", inputs[first++]});
  if (op.getLengths()) {
    pointers.push_back({"QUERY_LENGTHS", inputs[first++]});
    pointers.push_back({"KEY_LENGTHS", inputs[first]});
  }
}

static SmallVector<PlanPointer> getPointers(SDPAOp op) {
  ValueRange inputs = op.getInputs(), outputs = op.getOutputs();
  SmallVector<PlanPointer> pointers = {
      {"QUERY", inputs[0], op.getQuery().getOffset()},
      {"KEY", inputs[1], op.getKey().getOffset()},
      {"VALUE", inputs[2], op.getValue().getOffset()},
      {"OUTPUT", outputs[0], op.getOutput().getOffset()},
      {"LOG_SUM_EXP", outputs[1]}};
  addMasks(op, 3, pointers);
  return pointers;
}

static SmallVector<PlanPointer> getPointers(SDPAGradOp op) {
  ValueRange inputs = op.getInputs(), outputs = op.getOutputs();
  const bool isPacked = outputs.size() == 1;
  SmallVector<PlanPointer> pointers = {
      {"OUTPUT_GRAD", inputs[0], op.getGrad().getOffset()},
      {"QUERY", inputs[1], op.getQuery().getOffset()},
      {"KEY", inputs[2], op.getKey().getOffset()},
      {"VALUE", inputs[3], op.getValue().getOffset()},
      {"OUTPUT", inputs[4], op.getOutput().getOffset()},
      {"LOG_SUM_EXP", inputs[5]},
      {"QUERY_GRAD", outputs[0], op.getQueryGrad().getOffset()},
      {"KEY_GRAD", outputs[isPacked ? 0 : 1], op.getKeyGrad().getOffset()},
      {"VALUE_GRAD", outputs[isPacked ? 0 : 2], op.getValueGrad().getOffset()}};
  addMasks(op, 6, pointers);
  return pointers;
}

static SmallVector<PlanPointer> getPointers(LaunchOpInterface launch) {
  if (auto attention = dyn_cast<SDPAOp>(launch.getOperation()))
    return getPointers(attention);
  return getPointers(cast<SDPAGradOp>(launch.getOperation()));
}

/// Prints the members of a description as assignments to `a`.
static void emitDescription(const amp_cudnn_attention &a, raw_ostream &os) {
  auto type = [](int32_t value) -> StringRef {
    return value == AMP_CUDNN_F32   ? "AMP_CUDNN_F32"
           : value == AMP_CUDNN_F16 ? "AMP_CUDNN_F16"
                                    : "AMP_CUDNN_BF16";
  };
  os << "  a.batch = " << a.batch << ", a.heads = " << a.heads
     << ", a.key_heads = a.value_heads = " << a.key_heads << ";\n"
     << "  a.queries = " << a.queries << ", a.keys = " << a.keys
     << ", a.head_size = " << a.head_size << ", a.value_size = " << a.value_size
     << ";\n"
     << "  a.type = " << type(a.type) << ", a.backward = " << a.backward
     << ", a.scale = " << getFloatLiteral(APFloat(a.scale), /*isDouble=*/true)
     << ";\n"
     << "  a.left_bound = " << a.left_bound
     << ", a.right_bound = " << a.right_bound << ";\n"
     << "  a.bias_type = ";
  if (a.bias_type == AMP_CUDNN_NO_BIAS)
    os << "AMP_CUDNN_NO_BIAS;\n";
  else
    os << type(a.bias_type) << ", a.bias_batch = " << a.bias_batch
       << ", a.bias_heads = " << a.bias_heads << ";\n";
  if (a.has_lengths)
    os << "  a.has_lengths = 1;\n";
  if (a.deterministic)
    os << "  a.deterministic = 1;\n";
  static constexpr StringLiteral names[] = {
      "QUERY",       "KEY",        "VALUE",    "OUTPUT",    "LOG_SUM_EXP",
      "OUTPUT_GRAD", "QUERY_GRAD", "KEY_GRAD", "VALUE_GRAD"};
  os << "  // Strides of samples, heads and positions.\n";
  for (int index = 0;
       index <= (a.backward ? AMP_CUDNN_VALUE_GRAD : AMP_CUDNN_LOG_SUM_EXP);
       ++index)
    os << "  a.strides[AMP_CUDNN_" << names[index] << "] = {"
       << a.strides[index].sample << ", " << a.strides[index].head << ", "
       << a.strides[index].position << "};\n";
}

void ProgramEmitter::emitPlans() {
  if (plans.empty())
    return;
  os << "//===-- Plans of cuDNN "
        "-------------------------------------------------===//\n\n";
  for (LaunchOpInterface launch : launches) {
    if (!launch.usesCuDNN())
      continue;
    os << "int32_t plan_" << getName(launch) << "(amp_cudnn_plan **plan) {\n"
       << "  amp_cudnn_attention a = {};\n";
    if (auto attention = dyn_cast<SDPAOp>(launch.getOperation()))
      emitDescription(attention.getDescription(), os);
    else
      emitDescription(cast<SDPAGradOp>(launch.getOperation()).getDescription(),
                      os);
    os << "  return amp_cudnn_create_attention(&a, plan);\n}\n\n";
  }
  os << "const CuDNNPlanInfo kPlans[] = {\n";
  for (LaunchOpInterface launch : launches)
    if (launch.usesCuDNN())
      os << "    {" << quote(getName(launch)) << ", plan_" << getName(launch)
         << ", " << launch.getScratchBytes() << "},\n";
  os << "};\n\n"
     << "Status createPlan(int index, void **plan, int64_t *spareBytes) {\n"
     << "  return createCuDNNPlan(kPlans[index], plan, spareBytes);\n}\n"
     << "const PlanTable kPlanTable = {" << plans.size()
     << ", createPlan, destroyCuDNNPlan};\n\n";
}

void ProgramEmitter::emitPlanPointers(LaunchOpInterface launch) {
  if (!launch.usesCuDNN())
    return;
  os << "    void *p[AMP_CUDNN_ATTENTION_POINTERS] = {};\n";
  for (const PlanPointer &pointer : getPointers(launch)) {
    os << "    p[AMP_CUDNN_" << pointer.name
       << "] = " << getPointer(pointer.buffer);
    if (pointer.offset)
      os << " + " << pointer.offset;
    os << ";\n";
  }
}

void ProgramEmitter::emitPlanRun(LaunchOpInterface launch) {
  os << "runCuDNNPlan(run, " << plans.lookup(launch) << ", p, "
     << getScratch(launch) << ")";
}
