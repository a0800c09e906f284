//===- CUDADialect.cpp - The cuda dialect ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::cuda;

#include "amp/Dialect/CUDA/IR/CUDADialect.cpp.inc"
#include "amp/Dialect/CUDA/IR/CUDAEnums.cpp.inc"
#include "amp/Dialect/CUDA/IR/CUDAInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAAttrs.cpp.inc"

void CUDADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "amp/Dialect/CUDA/IR/CUDAAttrs.cpp.inc"
      >();
  registerAttentionOps();
  registerCallOps();
  registerCollectiveOps();
  registerCompositeOps();
  registerConvolutionOps();
  registerKernelOps();
  registerNormalizationOps();
  registerOptimizerOps();
  registerProductOps();
  registerProgramOps();
  registerQuantizedOps();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t mlir::cuda::getBytes(ShapedType type) {
  int64_t bits = type.getElementTypeBitWidth();
  return type.getNumElements() * ((bits + 7) / 8);
}

std::optional<Reader> mlir::cuda::getReader(LaunchOpInterface launch) {
  if (auto reader = launch->getAttrOfType<ReaderAttr>(kReaderAttr))
    return reader.getValue();
  return std::nullopt;
}

bool mlir::cuda::refreshes(LaunchOpInterface launch) {
  return launch->hasAttr(kRefreshesAttr);
}

bool mlir::cuda::isInEachStep(LaunchOpInterface launch) {
  return !getReader(launch) && !refreshes(launch);
}

AxisExtents mlir::cuda::getAxisExtents(ShapedType type, int64_t axis) {
  AxisExtents extents;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    (int64_t(dim) < axis    ? extents.outer
     : int64_t(dim) == axis ? extents.along
                            : extents.inner) *= extent;
  return extents;
}

BufferOp mlir::cuda::getBuffer(Value value) {
  Operation *view = value.getDefiningOp();
  while (isa_and_present<ViewOp, UpperHalfOp>(view)) {
    value = view->getOperand(0);
    // Verifiers call this before the order has been verified.
    Operation *source = value.getDefiningOp();
    if (!source || source->getBlock() != view->getBlock() ||
        !source->isBeforeInBlock(view))
      return {};
    view = source;
  }
  return value.getDefiningOp<BufferOp>();
}

bool mlir::cuda::isReservedName(StringRef name) {
  static const llvm::StringSet<> reserved = {
      // Words of C++20 that may also name an operation, a tensor or a layer.
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "class", "co_await",
      "co_return", "co_yield", "compl", "concept", "const", "const_cast",
      "consteval", "constexpr", "constinit", "continue", "decltype", "default",
      "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
      "export", "extern", "false", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not",
      "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected",
      "public", "register", "reinterpret_cast", "requires", "return", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
      "switch", "template", "this", "thread_local", "throw", "true", "try",
      "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
      "void", "volatile", "while", "xor", "xor_eq",
      // Macros and types of the printed kernels.
      "EOF", "INFINITY", "INT32_MIN", "INT64_MIN", "NAN", "NULL", "assert",
      "errno", "int32_t", "int64_t", "int8_t", "linux", "major", "makedev",
      "minor", "size_t", "stderr", "stdin", "stdout", "uint32_t", "uint64_t",
      "uint8_t", "unix",
      // Functions that bodies of kernels call.
      "atan2f", "atanf", "cbrtf", "ceilf", "copysignf", "cosf", "coshf",
      "erfcf", "erff", "exp2f", "expf", "expm1f", "fabsf", "floorf", "fmaf",
      "fmaxf", "fminf", "fmodf", "log10f", "log1pf", "log2f", "logf", "powf",
      "rintf", "roundf", "sinf", "sinhf", "sqrtf", "tanf", "tanhf", "truncf",
      // Functions of the runtime.
      "All", "Any", "Maximum", "Minimum", "Odd", "Product", "Sum",
      "elementwise", "guarded", "kThreads", "loadOne", "maximum", "minimum",
      "reduceAll", "reduceColumns", "reduceRows", "roundThrough", "storeOne"};
  // Names that compilers and libraries reserve, such as __global__.
  if (name.size() > 1 && name[0] == '_' &&
      (name[1] == '_' || llvm::isUpper(name[1])))
    return true;
  return reserved.contains(name);
}

int64_t mlir::cuda::getReadBytes(Operation *op) {
  auto launch = cast<LaunchOpInterface>(op);
  int64_t bytes = launch.getScratchBytes() + launch.getRereadBytes();
  SmallPtrSet<Value, 8> read;
  for (Value input : launch.getInputs())
    if (read.insert(input).second)
      bytes += getBytes(cast<ShapedType>(input.getType()));
  return bytes;
}

int64_t mlir::cuda::getWrittenBytes(Operation *op) {
  auto launch = cast<LaunchOpInterface>(op);
  int64_t bytes = launch.getScratchBytes();
  for (unsigned target = 0; target < launch.getNumTargets(); ++target)
    bytes += getBytes(launch.getTargetType(target));
  return bytes;
}

int64_t mlir::cuda::estimateFlops(Operation *op, int64_t perElement) {
  auto launch = cast<LaunchOpInterface>(op);
  int64_t elements = 0;
  for (unsigned input = 0; input < launch.getInputs().size(); ++input)
    elements = std::max(elements, launch.getInputType(input).getNumElements());
  for (unsigned target = 0; target < launch.getNumTargets(); ++target)
    elements =
        std::max(elements, launch.getTargetType(target).getNumElements());
  return perElement * elements;
}

int64_t mlir::cuda::getTrafficBytes(LaunchOpInterface launch) {
  return launch.getReadBytes() + launch.getWrittenBytes();
}

bool mlir::cuda::mayOverwrite(LaunchOpInterface op, unsigned target,
                              unsigned input) {
  return op.getInputType(input) == op.getTargetType(target) &&
         llvm::count(op.getInputs(), op.getInputs()[input]) == 1;
}

//===----------------------------------------------------------------------===//
// Shared verifiers
//===----------------------------------------------------------------------===//

std::string mlir::cuda::formatList(ArrayRef<int64_t> values) {
  return "[" +
         llvm::join(llvm::map_range(
                        values, [](int64_t v) { return std::to_string(v); }),
                    ", ") +
         "]";
}

LogicalResult mlir::cuda::verifyCounts(LaunchOpInterface op, unsigned inputs,
                                       unsigned targets) {
  if (op.getInputs().size() != inputs)
    return op->emitOpError("has ")
           << op.getInputs().size() << " inputs, expected " << inputs;
  if (op.getNumTargets() != targets)
    return op->emitOpError("has ")
           << op.getNumTargets() << " outputs or results, expected " << targets;
  return success();
}

LogicalResult mlir::cuda::verifyType(Operation *op, const Twine &what,
                                     ShapedType type, ArrayRef<int64_t> shape,
                                     Type element) {
  if (type.getShape() == shape && type.getElementType() == element)
    return success();
  return op->emitOpError() << what << " has shape "
                           << formatList(type.getShape()) << " of "
                           << type.getElementType() << ", expected "
                           << formatList(shape) << " of " << element;
}

LogicalResult mlir::cuda::verifyAxis(Operation *op, int64_t axis,
                                     ArrayRef<int64_t> shape) {
  if (axis >= 0 && axis < int64_t(shape.size()))
    return success();
  return op->emitOpError("has axis ")
         << axis << " for the shape " << formatList(shape);
}

LogicalResult mlir::cuda::verifyTunedKernel(Operation *operation,
                                            ArrayRef<StringLiteral> inputs,
                                            ArrayRef<StringLiteral> targets) {
  auto op = cast<LaunchOpInterface>(operation);
  if (!inputs.empty() && inputs.back() == "addend" &&
      !operation->hasAttr("accumulate"))
    inputs = inputs.drop_back();
  if (failed(verifyCounts(op, inputs.size(), targets.size())))
    return failure();
  auto verify = [&](StringRef name, ShapedType type) -> LogicalResult {
    if (type.getNumElements() > 0)
      return success();
    return op->emitOpError() << name << " has no elements";
  };
  for (auto [index, name] : llvm::enumerate(inputs))
    if (failed(verify(name, op.getInputType(index))))
      return failure();
  for (auto [index, name] : llvm::enumerate(targets))
    if (failed(verify(name, op.getTargetType(index))))
      return failure();
  return success();
}

/// Verifies that `type`, the type of `name`, meets its specification.
static LogicalResult verifyOperand(Operation *op, StringRef name,
                                   ShapedType type, const OperandSpec &spec) {
  if (spec.element)
    return verifyType(op, name, type, spec.shape, spec.element);
  Type element = type.getElementType();
  if (type.getShape() == spec.shape &&
      (element.isF16() || element.isBF16() || element.isF32()))
    return success();
  return op->emitOpError() << name << " has shape "
                           << formatList(type.getShape()) << " of " << element
                           << ", expected " << formatList(spec.shape)
                           << " of f16, bf16 or f32";
}

LogicalResult mlir::cuda::verifyOperands(LaunchOpInterface op,
                                         ArrayRef<StringLiteral> inputNames,
                                         ArrayRef<OperandSpec> inputs,
                                         ArrayRef<StringLiteral> targetNames,
                                         ArrayRef<OperandSpec> targets) {
  for (auto [index, spec] : llvm::enumerate(inputs))
    if (failed(
            verifyOperand(op, inputNames[index], op.getInputType(index), spec)))
      return failure();
  for (auto [index, spec] : llvm::enumerate(targets))
    if (failed(verifyOperand(op, targetNames[index], op.getTargetType(index),
                             spec)))
      return failure();
  return verifyLaunch(op);
}

/// The largest number of elements of a value and the largest integer attribute
/// of an operation. Sums of these, sizes in bytes and the operations of a
/// product of matrices do not overflow 64 bits.
static constexpr int64_t kLargestSize = int64_t(1) << 40;

bool mlir::cuda::hasCountableElements(ArrayRef<int64_t> extents) {
  int64_t elements = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent) || extent == 0)
      continue;
    if (extent > kLargestSize / elements)
      return false;
    elements *= extent;
  }
  return true;
}

LogicalResult mlir::cuda::verifyExtents(Operation *op) {
  for (ValueRange values :
       {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Type type : values.getTypes())
      if (auto shaped = dyn_cast<ShapedType>(type);
          shaped && shaped.hasRank() &&
          !hasCountableElements(shaped.getShape()))
        return op->emitOpError("has a value of type ")
               << type << ", expected extents whose product is at most 2^40";
  return success();
}

/// Verifies that the integer attributes of `op` have no larger sizes.
static LogicalResult verifyIntegers(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs()) {
    ArrayRef<int64_t> integers;
    int64_t integer;
    if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute.getValue())) {
      integers = array;
    } else if (auto number = dyn_cast<IntegerAttr>(attribute.getValue());
               number && number.getType().isInteger(64)) {
      integer = number.getInt();
      integers = integer;
    }
    for (int64_t value : integers)
      if (value < -kLargestSize || value > kLargestSize)
        return op->emitOpError("has ")
               << value << " in " << attribute.getName()
               << ", expected an integer from -2^40 to 2^40";
  }
  return success();
}

LogicalResult mlir::cuda::verifyLaunchForm(Operation *operation) {
  auto op = cast<LaunchOpInterface>(operation);
  if (failed(verifyExtents(operation)) || failed(verifyIntegers(operation)))
    return failure();
  bool onBuffers = !op.getOutputs().empty();
  if (onBuffers && !op.getResults().empty())
    return op->emitOpError(
        "has outputs and results, expected one or the other");
  if (!onBuffers && op.getResults().empty())
    return op->emitOpError("has neither outputs nor results");
  bool isInside = isa_and_nonnull<ProgramOp>(op->getParentOp());
  if (onBuffers && !isInside)
    return op->emitOpError("writes buffers outside of a 'cuda.program'");
  if (!onBuffers && isInside)
    return op->emitOpError(
        "has results inside a 'cuda.program', expected outputs");
  auto hasForm = [&](Value value) {
    return !value || isa<MemRefType>(value.getType()) == onBuffers;
  };
  if (!llvm::all_of(op.getInputs(), hasForm) || !hasForm(op.getPredicate()))
    return op->emitOpError("mixes tensors and buffers");
  return success();
}

LogicalResult mlir::cuda::verifyLaunch(LaunchOpInterface op) {
  OperandRange scratch = op.getScratch();
  bool onBuffers = !op.getOutputs().empty();
  for (ValueRange values : {ValueRange(op.getOutputs()), ValueRange(scratch)})
    for (Value value : values)
      if (auto type = dyn_cast<MemRefType>(value.getType());
          type && !type.getLayout().isIdentity())
        return op->emitOpError("writes a buffer with a layout, expected it to "
                               "be row-major and contiguous");
  int64_t needed = onBuffers ? op.getScratchBytes() : 0, given = 0;
  if (scratch.size() > 1)
    return op->emitOpError("has several scratch buffers, expected one");
  if (!scratch.empty())
    given = getBytes(cast<ShapedType>(scratch.front().getType()));
  if (given < needed)
    return op->emitOpError("has ")
           << given << " bytes of scratch memory, expected at least " << needed;
  if (!onBuffers)
    return success();
  for (unsigned target = 0; target < op.getNumTargets(); ++target) {
    std::optional<unsigned> input = op.getTiedInput(target);
    if (!input)
      continue;
    BufferOp from = getBuffer(op.getInputs()[*input]),
             to = getBuffer(op.getOutputs()[target]);
    if (from && to && from.getOffset() != to.getOffset())
      return op->emitOpError("works in place, but output ")
             << target << " lies at " << to.getOffset() << " and input "
             << *input << " at " << from.getOffset();
  }
  return success();
}

void mlir::cuda::getLaunchEffects(
    LaunchOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (op.getOutputs().empty())
    return;
  auto add = [&](Value value, MemoryEffects::Effect *effect) {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == value) {
        effects.emplace_back(effect, &operand);
        return;
      }
  };
  for (Value input : op.getInputs())
    add(input, MemoryEffects::Read::get());
  if (Value predicate = op.getPredicate())
    add(predicate, MemoryEffects::Read::get());
  for (Value output : op.getOutputs())
    add(output, MemoryEffects::Write::get());
  for (Value value : op.getScratch())
    add(value, MemoryEffects::Write::get());
}
