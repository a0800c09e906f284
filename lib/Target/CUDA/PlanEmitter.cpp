//===- PlanEmitter.cpp - Plans of cuDNN -----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {
/// A pointer of a plan: its name in the interface, the buffer, the element at
/// which it begins, and the elements from one sample to the next.
struct PlanPointer {
  std::string name;
  Value buffer;
  int64_t offset = 0, sample = 0;
};
} // namespace

/// The names of the tensors of an attention, in the order of the interface.
static constexpr StringLiteral kTensorNames[] = {
    "QUERY",       "KEY",        "VALUE",    "OUTPUT",    "LOG_SUM_EXP",
    "OUTPUT_GRAD", "QUERY_GRAD", "KEY_GRAD", "VALUE_GRAD"};

static int getTensorIndex(StringRef name) {
  return int(llvm::find(kTensorNames, name) - std::begin(kTensorNames));
}

/// Adds the pointers of the lengths and offsets of documents, inputs `first`
/// and the next. The tensors of all pointers so far have offsets, and begin at
/// the same element for each part of the documents.
template <typename OpTy>
static void addDocuments(OpTy op, unsigned first,
                         SmallVectorImpl<PlanPointer> &pointers) {
  if (!op.getDocuments())
    return;
  ValueRange inputs = op.getInputs();
  const int64_t columns = op.getInputType(first + 1).getDimSize(1);
  const amp_cudnn_attention description = op.getDescription();
  ArrayRef<int64_t> rows = *op.getRows();
  SmallVector<PlanPointer> offsets;
  for (PlanPointer &pointer : pointers) {
    pointer.sample = 0;
    const int64_t elements =
        description.strides[getTensorIndex(pointer.name)].position;
    const int64_t row = llvm::find(rows, elements) - rows.begin();
    offsets.push_back({"OFFSETS + AMP_CUDNN_" + pointer.name, inputs[first + 1],
                       row * columns, 1});
  }
  pointers.push_back({"QUERY_LENGTHS", inputs[first], 0, 1});
  pointers.push_back({"KEY_LENGTHS", inputs[first], 0, 1});
  pointers.append(offsets);
}

/// The pointers of the bias, the lengths and the seeds, inputs from `first` on.
template <typename OpTy>
static void addMasks(OpTy op, unsigned first,
                     SmallVectorImpl<PlanPointer> &pointers) {
  ValueRange inputs = op.getInputs();
  if (op.getBias()) {
    ShapedType bias = op.getInputType(first);
    // All samples share a bias of one.
    const int64_t sample =
        bias.getDimSize(0) > 1 ? bias.getNumElements() / bias.getDimSize(0) : 0;
    pointers.push_back({"BIAS", inputs[first++], 0, sample});
  }
  if (op.getLengths()) {
    pointers.push_back({"QUERY_LENGTHS", inputs[first++], 0, 1});
    pointers.push_back({"KEY_LENGTHS", inputs[first++], 0, 1});
  }
  if (op.getDropout()) {
    const int64_t seed = 2 * int64_t(op.getSeedRow());
    pointers.push_back({"DROPOUT_SEED", inputs[first], seed});
    pointers.push_back({"DROPOUT_OFFSET", inputs[first], seed + 1});
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
  addDocuments(op, 3, pointers);
  addMasks(op, 3, pointers);
  return pointers;
}

static SmallVector<PlanPointer> getPointers(SDPAGradOp op) {
  ValueRange inputs = op.getInputs(), outputs = op.getOutputs();
  const bool isPacked = outputs.size() == 1;
  auto at = [](const char *name, Value buffer, HeadsAttr heads) {
    return PlanPointer{name, buffer, heads.getOffset(), heads.getSample()};
  };
  SmallVector<PlanPointer> pointers = {
      at("OUTPUT_GRAD", inputs[0], op.getGrad()),
      at("QUERY", inputs[1], op.getQuery()),
      at("KEY", inputs[2], op.getKey()),
      at("VALUE", inputs[3], op.getValue()),
      at("OUTPUT", inputs[4], op.getOutput()),
      {"LOG_SUM_EXP", inputs[5], 0,
       op.getSizes().getHeads() * op.getSizes().getQueries()},
      at("QUERY_GRAD", outputs[0], op.getQueryGrad()),
      at("KEY_GRAD", outputs[isPacked ? 0 : 1], op.getKeyGrad()),
      at("VALUE_GRAD", outputs[isPacked ? 0 : 2], op.getValueGrad())};
  addDocuments(op, 6, pointers);
  addMasks(op, 6, pointers);
  return pointers;
}

static SmallVector<PlanPointer> getPointers(ConvPlanOp op) {
  ValueRange inputs = op.getInputs();
  static constexpr StringLiteral names[] = {
      "CONVOLUTION_IMAGE", "CONVOLUTION_FILTER", "CONVOLUTION_RESULT"};
  // The places in `names` of the two inputs and of the output.
  static constexpr unsigned places[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
  const auto &place = places[unsigned(op.getKind())];
  SmallVector<PlanPointer> pointers = {
      {names[place[0]].str(), inputs[0]},
      {names[place[1]].str(), inputs[1]},
      {names[place[2]].str(), op.getOutputs().front()}};
  if (op.getBias())
    pointers.push_back({"CONVOLUTION_BIAS", inputs[2]});
  return pointers;
}

static SmallVector<PlanPointer> getPointers(LaunchOpInterface launch) {
  if (auto convolution = dyn_cast<ConvPlanOp>(launch.getOperation()))
    return getPointers(convolution);
  if (auto attention = dyn_cast<SDPAOp>(launch.getOperation()))
    return getPointers(attention);
  return getPointers(cast<SDPAGradOp>(launch.getOperation()));
}

static StringRef getTypeName(int32_t type) {
  return type == AMP_CUDNN_F32   ? "AMP_CUDNN_F32"
         : type == AMP_CUDNN_F16 ? "AMP_CUDNN_F16"
                                 : "AMP_CUDNN_BF16";
}

/// Prints the members of a description as assignments to `a`.
static void emitDescription(const amp_cudnn_attention &a,
                            NumberPrinter &numbers, raw_ostream &os) {
  auto number = [&](int64_t value) { return numbers.getHost(value); };
  os << "  a.batch = " << number(a.batch) << ", a.heads = " << number(a.heads)
     << ", a.key_heads = a.value_heads = " << number(a.key_heads) << ";\n"
     << "  a.queries = " << number(a.queries) << ", a.keys = " << number(a.keys)
     << ", a.head_size = " << number(a.head_size)
     << ", a.value_size = " << number(a.value_size) << ";\n"
     << "  a.type = " << getTypeName(a.type) << ", a.backward = " << a.backward
     << ", a.scale = " << getFloatLiteral(APFloat(a.scale), /*isDouble=*/true)
     << ";\n"
     << "  a.left_bound = " << a.left_bound
     << ", a.right_bound = " << a.right_bound << ";\n"
     << "  a.bias_type = ";
  if (a.bias_type == AMP_CUDNN_NO_BIAS)
    os << "AMP_CUDNN_NO_BIAS;\n";
  else
    os << getTypeName(a.bias_type)
       << ", a.bias_batch = " << number(a.bias_batch)
       << ", a.bias_heads = " << number(a.bias_heads) << ";\n";
  if (a.has_lengths)
    os << "  a.has_lengths = 1;\n";
  if (a.has_offsets)
    os << "  // The samples are documents of packed sequences.\n"
       << "  a.has_offsets = 1, a.positions = " << number(a.positions) << ";\n";
  if (a.deterministic)
    os << "  a.deterministic = 1;\n";
  if (a.dropout > 0)
    os << "  a.dropout = "
       << getFloatLiteral(APFloat(a.dropout), /*isDouble=*/true) << ";\n";
  os << "  // Strides of samples, heads and positions.\n";
  for (int index = 0;
       index <= (a.backward ? AMP_CUDNN_VALUE_GRAD : AMP_CUDNN_LOG_SUM_EXP);
       ++index)
    os << "  a.strides[AMP_CUDNN_" << kTensorNames[index] << "] = {"
       << number(a.strides[index].sample) << ", "
       << number(a.strides[index].head) << ", "
       << number(a.strides[index].position) << "};\n";
}

/// Prints the members of a description as assignments to `c`.
static void emitDescription(const amp_cudnn_convolution &c,
                            NumberPrinter &numbers, raw_ostream &os) {
  static constexpr StringLiteral kinds[] = {"FORWARD", "INPUT_GRAD",
                                            "FILTER_GRAD"};
  auto number = [&](int64_t value) { return numbers.getHost(value); };
  os << "  c.batch = " << number(c.batch) << ", c.height = " << number(c.height)
     << ", c.width = " << number(c.width)
     << ", c.channels = " << number(c.channels) << ";\n"
     << "  c.kernel_height = " << number(c.kernel_height)
     << ", c.kernel_width = " << number(c.kernel_width)
     << ", c.features = " << number(c.features)
     << ", c.groups = " << number(c.groups) << ";\n";
  auto emitArray = [&](StringRef name, ArrayRef<int64_t> values) {
    os << " ";
    for (auto [index, value] : llvm::enumerate(values))
      os << " c." << name << "[" << index << "] = " << number(value)
         << (index + 1 < values.size() ? "," : ";\n");
  };
  emitArray("strides", c.strides);
  emitArray("padding", c.padding);
  emitArray("dilations", c.dilations);
  os << "  c.type = c.result_type = " << getTypeName(c.type)
     << ", c.kind = AMP_CUDNN_CONVOLUTION_" << kinds[c.kind] << ";\n";
  if (c.has_bias)
    os << "  c.has_bias = 1;\n";
  if (c.relu)
    os << "  c.relu = 1;\n";
  if (c.deterministic)
    os << "  c.deterministic = 1;\n";
}

/// Prints a function that creates the plan of `description`. The functions and
/// types of the interface are named after `kind`.
template <typename Description>
static void emitPlanFunction(StringRef name, StringRef kind, char variable,
                             const Description &description,
                             NumberPrinter &numbers, raw_ostream &os) {
  os << "int32_t plan_" << name << "(amp_cudnn_plan **plan) {\n"
     << "  amp_cudnn_" << kind << " " << variable << " = {};\n";
  emitDescription(description, numbers, os);
  os << "  return amp_cudnn_create_" << kind << "(&" << variable
     << ", plan);\n}\n\n";
}

void ProgramEmitter::emitPlans() {
  if (plans.empty())
    return;
  os << "//===-- Plans of cuDNN "
        "-------------------------------------------------===//\n\n";
  for (LaunchOpInterface launch : launches) {
    if (!launch.usesCuDNN())
      continue;
    std::string name = getName(launch);
    llvm::TypeSwitch<Operation *>(launch)
        .Case([&](ConvPlanOp op) {
          emitPlanFunction(name, "convolution", 'c', op.getDescription(),
                           numbers, os);
        })
        .Case<SDPAOp, SDPAGradOp>([&](auto op) {
          emitPlanFunction(name, "attention", 'a', op.getDescription(), numbers,
                           os);
        });
  }
  os << "const CuDNNPlanInfo kPlans[] = {\n";
  for (LaunchOpInterface launch : launches)
    if (launch.usesCuDNN())
      os << "    {" << quote(getName(launch)) << ", plan_" << getName(launch)
         << ", " << numbers.getHost(launch.getScratchBytes()) << "},\n";
  os << "};\n\n"
     << "Status createPlan(int index, void **plan, int64_t *spareBytes) {\n"
     << "  return createCuDNNPlan(kPlans[index], plan, spareBytes);\n}\n"
     << "const PlanTable kPlanTable = {" << plans.size()
     << ", createPlan, destroyCuDNNPlan};\n\n";
}

void ProgramEmitter::emitPlanPointers(LaunchOpInterface launch) {
  if (!launch.usesCuDNN())
    return;
  const bool isConvolution = isa<ConvPlanOp>(launch.getOperation());
  os << "    void *p[AMP_CUDNN_"
     << (isConvolution ? "CONVOLUTION" : "ATTENTION") << "_POINTERS] = {};\n";
  for (const PlanPointer &pointer : getPointers(launch)) {
    os << "    p[AMP_CUDNN_" << pointer.name
       << "] = " << getPointer(pointer.buffer);
    if (pointer.offset)
      os << " + " << numbers.getHost(pointer.offset);
    os << ";\n";
  }
  auto gradient = dyn_cast<SDPAGradOp>(launch.getOperation());
  if (!gradient || gradient.getParts() == 1)
    return;
  os << "    // Bytes from one part of the "
     << (gradient.getDocuments() ? "documents" : "samples") << " to the next.\n"
     << "    int64_t steps[AMP_CUDNN_ATTENTION_POINTERS] = {};\n";
  const int64_t samples = gradient.getNumSamples() / gradient.getParts();
  for (const PlanPointer &pointer : getPointers(launch))
    if (pointer.sample != 0)
      os << "    steps[AMP_CUDNN_" << pointer.name << "] = "
         << numbers.getHost(
                samples * pointer.sample *
                (shapedType(pointer.buffer).getElementTypeBitWidth() / 8))
         << ";\n";
}

void ProgramEmitter::emitPlanRun(LaunchOpInterface launch) {
  auto gradient = dyn_cast<SDPAGradOp>(launch.getOperation());
  const bool isDivided = gradient && gradient.getParts() > 1;
  os << (isDivided ? "runCuDNNPlanInParts" : "runCuDNNPlan") << "(run, "
     << plans.lookup(launch) << ", p, " << getScratch(launch);
  if (isDivided)
    os << ", steps, int(" << numbers.getHost(gradient.getParts()) << ")";
  os << ")";
}
