//===- CUDAProgramOps.cpp - Programs and buffers --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Runtime/Host/Checkpoint.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Buffers and views
//===----------------------------------------------------------------------===//

int64_t BufferOp::getBytes() { return mlir::cuda::getBytes(getType()); }

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name;
  for (char c : getName())
    name += llvm::isAlnum(c) || c == '_' || c == '.' ? c : '_';
  if (!name.empty() && !llvm::isDigit(name.front()))
    setName(getBuffer(), name);
}

LogicalResult BufferOp::verify() {
  if (failed(verifyExtents(*this)))
    return failure();
  if (getName().empty())
    return emitOpError("has an empty name");
  if (int64_t(getOffset()) < 0 ||
      int64_t(getOffset()) % CUDADialect::kAlignment != 0)
    return emitOpError("lies at ")
           << int64_t(getOffset()) << ", expected a multiple of "
           << CUDADialect::kAlignment;
  if (!getType().getLayout().isIdentity())
    return emitOpError("has a layout, expected it to be row-major");
  if (auto role = getRole();
      role && !amp::symbolizeRole(*role) && *role != "metric" &&
      *role != "prediction" && *role != "constant" && *role != "copy" &&
      *role != "arrival_counters" && *role != "table" && *role != "workspace")
    return emitOpError("has the unknown role '") << *role << "'";
  Type element = getType().getElementType();
  if (getSplit() && (getRole() != "parameter" || !element.isF32()))
    return emitOpError("has 'split', expected the role 'parameter' and "
                       "elements of type f32");
  if (getSplit() && getPartOf())
    return emitOpError("has 'split' and 'part_of', expected at most one of "
                       "them");
  if (getIndexBound() && (getRole() != "batch" ||
                          !(element.isInteger(32) || element.isInteger(64)) ||
                          int64_t(*getIndexBound()) <= 0))
    return emitOpError("has an 'index_bound', expected a positive one, the "
                       "role 'batch' and elements of type i32 or i64");
  if (getCumulative() && (getRole() != "batch" || !getIndexBound()))
    return emitOpError("is 'cumulative', expected the role 'batch' and an "
                       "'index_bound'");
  if (std::optional<RankedTensorType> whole = getPartOf()) {
    std::optional<amp::Role> role = amp::symbolizeRole(getRole().value_or(""));
    if (!role || *role == amp::Role::Batch ||
        *role == amp::Role::Hyperparameter)
      return emitOpError("has 'part_of', which belongs on states");
    if (!amp::isFlatPart(*whole, getType()))
      return emitOpError("is ")
             << getType() << " as a part of " << Type(*whole)
             << ", expected one dimension and n / N elements, rounded up";
  }
  std::optional<ElementsAttr> value = getValue();
  if (value.has_value() != isConstant())
    return emitOpError("needs the role 'constant' and a 'value' together");
  if (!value)
    return success();
  auto expected =
      RankedTensorType::get(getType().getShape(), getType().getElementType());
  if (!isa<DenseIntOrFPElementsAttr>(*value) ||
      value->getShapedType() != expected)
    return emitOpError("has a 'value' of type ")
           << value->getShapedType() << ", expected dense elements of type "
           << expected;
  return success();
}

LogicalResult ViewOp::verify() {
  if (failed(verifyExtents(*this)))
    return failure();
  auto from = cast<ShapedType>(getSource().getType()),
       to = cast<ShapedType>(getType());
  if (isa<MemRefType>(from) != isa<MemRefType>(to))
    return emitOpError("mixes tensors and buffers");
  if (from.getElementType() != to.getElementType() ||
      from.getNumElements() != to.getNumElements())
    return emitOpError("takes ")
           << from << " as " << to << ", expected the same elements";
  return success();
}

LogicalResult UpperHalfOp::verify() {
  if (failed(verifyExtents(*this)))
    return failure();
  auto from = cast<ShapedType>(getSource().getType()),
       to = cast<ShapedType>(getType());
  if (isa<MemRefType>(from) != isa<MemRefType>(to))
    return emitOpError("mixes tensors and buffers");
  if (!from.getElementType().isF32() || !to.getElementType().isBF16() ||
      from.getShape() != to.getShape())
    return emitOpError("takes ")
           << from << " as " << to
           << ", expected f32 and bf16 elements and one shape";
  return success();
}

Value UpperHalfOp::getViewSource() { return getSource(); }

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ViewOp>()) {
    setOperand(inner.getSource());
    return getResult();
  }
  return {};
}

Value ViewOp::getViewSource() { return getSource(); }

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult
StateAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  StringRef precision, uint64_t, ArrayAttr scaler) {
  if (::amphost::findPrecision(precision.str()) < 0)
    return emitError() << "has the unknown precision '" << precision
                       << "', expected f32, tf32, fp16, bf16, fp8, fp8- and a "
                          "recipe, or nothing";
  for (Attribute attribute : scaler) {
    auto rule = dyn_cast<StringAttr>(attribute);
    // A checkpoint has one line per rule.
    if (!rule || !rule.getValue().contains(" = ") ||
        rule.getValue().contains('\n'))
      return emitError() << "has the rule " << attribute
                         << ", expected a string 'name = value'";
  }
  return success();
}

std::string StateAttr::getScalerText() const {
  return llvm::join(getScaler().getAsValueRange<StringAttr>(), "\n");
}

LogicalResult ProgramOp::verify() {
  if (getState() && getInferenceOf())
    return emitOpError("has a 'state', which the forward function of another "
                       "program does not save");
  if (int64_t(getArena()) < 0)
    return emitOpError("has an arena of ") << int64_t(getArena()) << " bytes";
  if (getPredictions() && *getPredictions() < getArena())
    return emitOpError("takes ")
           << int64_t(*getPredictions())
           << " bytes with predictions, expected at least the "
           << int64_t(getArena()) << " bytes of the arena";
  return success();
}

namespace {
/// A buffer and the launches between which it is in use.
struct Use {
  BufferOp buffer;
  int64_t first = -1, last = -1;
  int64_t begin() { return buffer.getOffset(); }
  /// The bytes that launches use.
  int64_t bytes = 0;
  int64_t end() { return begin() + bytes; }
};
} // namespace

/// Whether `buffer` holds a value before the first launch: an input, a state or
/// a constant, but not a result.
static bool isFilled(BufferOp buffer) {
  std::optional<StringRef> role = buffer.getRole();
  return role && *role != "metric" && *role != "prediction";
}

namespace {
/// The buffers that hold a value at each launch.
class WrittenBuffers {
public:
  /// Whether `buffer` holds a value when a launch with `predicate` runs. A null
  /// `predicate` means that the launch has none.
  bool holds(BufferOp buffer, BufferOp predicate) const {
    if (isFilled(buffer) || always.contains(buffer))
      return true;
    auto flags = conditional.find(buffer);
    return predicate && flags != conditional.end() &&
           flags->second.contains(predicate);
  }
  /// Whether launches write `buffer`, but all with a predicate.
  bool isConditional(BufferOp buffer) const {
    return conditional.contains(buffer) && !always.contains(buffer);
  }
  void write(LaunchOpInterface launch);

private:
  DenseSet<Operation *> always;
  /// For each buffer, the flags under which one of its writers has run.
  DenseMap<Operation *, DenseSet<Operation *>> conditional;
};
} // namespace

void WrittenBuffers::write(LaunchOpInterface launch) {
  Value predicate = launch.getPredicate();
  for (Value output : launch.getOutputs()) {
    BufferOp buffer = mlir::cuda::getBuffer(output);
    if (predicate)
      conditional[buffer].insert(mlir::cuda::getBuffer(predicate));
    else
      always.insert(buffer);
  }
  // A new value of a flag invalidates conclusions from its earlier value.
  for (Value output : launch.getOutputs())
    for (auto &[buffer, flags] : conditional)
      flags.erase(mlir::cuda::getBuffer(output));
}

/// Verifies that no launch needs what launches with a later reader compute, and
/// that those write nothing else.
static LogicalResult verifyReaders(ProgramOp program) {
  // Training, metrics, predictions.
  auto getRank = [](LaunchOpInterface launch) {
    std::optional<Reader> reader = getReader(launch);
    return reader ? int(*reader) : 0;
  };
  DenseMap<Operation *, int> ranks;
  for (auto launch : program.getBody().front().getOps<LaunchOpInterface>()) {
    int rank = getRank(launch);
    auto fail = [&](BufferOp buffer, StringRef text) {
      return launch->emitOpError()
             << "'" << launch.getName().value_or("") << "' " << text << " '"
             << buffer.getName() << "'";
    };
    for (Value input : launch.getInputs()) {
      BufferOp buffer = mlir::cuda::getBuffer(input);
      if (ranks.lookup(buffer) > rank)
        return fail(buffer, "reads a value that not every step with this "
                            "launch computes,");
    }
    for (Value output : launch.getOutputs()) {
      BufferOp buffer = mlir::cuda::getBuffer(output);
      StringRef role = buffer.getRole().value_or("");
      if (rank > 0 && !role.empty() && role != "metric" && role != "prediction")
        return fail(buffer, "is not part of every step, but writes the state");
      auto [known, isNew] = ranks.try_emplace(buffer, rank);
      if (!isNew && known->second != rank)
        return fail(buffer,
                    "has another reader than a launch that also writes");
    }
    for (Value operand : launch->getOperands()) {
      BufferOp buffer = mlir::cuda::getBuffer(operand);
      if (buffer.getOffset() >= program.getArena() &&
          rank != int(Reader::Predictions) && buffer.getBytes() > 0)
        return fail(buffer, "is not only for predictions, but uses, beyond the "
                            "arena,");
    }
  }
  return success();
}

/// Verifies that launches that refresh copies write only copies, and values
/// that only such launches read.
static LogicalResult verifyRefreshes(ProgramOp program) {
  DenseSet<Operation *> temporaries;
  for (auto launch : program.getBody().front().getOps<LaunchOpInterface>()) {
    auto fail = [&](StringRef text, BufferOp buffer) {
      return launch->emitOpError()
             << "'" << launch.getName().value_or("") << "' " << text << " '"
             << buffer.getName() << "'";
    };
    bool isRefresh = refreshes(launch);
    for (Value input : launch.getInputs())
      if (BufferOp buffer = mlir::cuda::getBuffer(input);
          !isRefresh && temporaries.contains(buffer))
        return fail(
            "reads a value that only steps with changed states compute,",
            buffer);
    for (Value output : launch.getOutputs()) {
      BufferOp buffer = mlir::cuda::getBuffer(output);
      StringRef role = buffer.getRole().value_or("");
      if (!isRefresh) {
        temporaries.erase(buffer);
        continue;
      }
      if (!role.empty() && role != "copy")
        return fail("only refreshes copies, but writes", buffer);
      if (role.empty())
        temporaries.insert(buffer);
    }
  }
  return success();
}

/// Verifies that every value is written before a launch reads it, and that the
/// results of the step are written.
static LogicalResult verifyReads(ProgramOp program) {
  WrittenBuffers written;
  for (auto launch : program.getBody().front().getOps<LaunchOpInterface>()) {
    BufferOp flag;
    if (Value predicate = launch.getPredicate())
      flag = mlir::cuda::getBuffer(predicate);
    auto verifyRead = [&](BufferOp buffer, BufferOp flag) -> LogicalResult {
      if (written.holds(buffer, flag))
        return success();
      auto diagnostic = launch->emitOpError();
      if (launch.getName())
        diagnostic << "'" << *launch.getName() << "' ";
      diagnostic << "reads '" << buffer.getName() << "', which ";
      if (written.isConditional(buffer))
        diagnostic << "launches before it write only with a predicate, "
                      "expected the same one";
      else
        diagnostic << "no launch before it writes";
      diagnostic.attachNote(buffer.getLoc())
          << "'" << buffer.getName() << "' "
          << (buffer.getRole() ? "is a result of the step"
                               : "holds an intermediate value");
      return diagnostic;
    };
    for (Value input : launch.getInputs())
      if (failed(verifyRead(mlir::cuda::getBuffer(input), flag)))
        return failure();
    // The launch reads the flag in any case.
    if (flag && failed(verifyRead(flag, BufferOp())))
      return failure();
    written.write(launch);
  }
  for (auto buffer : program.getBody().front().getOps<BufferOp>()) {
    if (!buffer.getRole() || written.holds(buffer, BufferOp()))
      continue;
    if (!written.isConditional(buffer))
      return buffer.emitOpError("is a ")
             << *buffer.getRole() << " that no launch writes";
    return buffer.emitOpError("is a ")
           << *buffer.getRole()
           << " that is written only with a predicate, expected a launch "
              "without one";
  }
  return success();
}

/// Whether `value` is a view of the upper half of a buffer.
static bool isUpperHalf(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return bool(value.getDefiningOp<UpperHalfOp>());
}

/// Verifies that a launch either updates both halves of a split parameter or
/// only reads the upper half.
static LogicalResult verifyHalves(LaunchOpInterface launch) {
  auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation());
  auto verify = [&](Value value, int64_t index) -> LogicalResult {
    BufferOp buffer = mlir::cuda::getBuffer(value);
    bool isPair = optimizer && llvm::is_contained(optimizer.getSplits(), index);
    if (isUpperHalf(value)) {
      if (buffer.getSplit())
        return success();
      return launch->emitOpError("reads the upper half of '")
             << buffer.getName() << "', expected the buffer to be split";
    }
    if (bool(buffer.getSplit()) == isPair)
      return success();
    return launch->emitOpError("uses '")
           << buffer.getName()
           << (isPair ? "' as a split parameter, which its buffer is not"
                      : "' as f32, but the halves of its elements are stored "
                        "apart");
  };
  for (auto [index, input] : llvm::enumerate(launch.getInputs()))
    if (failed(verify(input, index)))
      return failure();
  for (auto [index, output] : llvm::enumerate(launch.getOutputs())) {
    if (isUpperHalf(output))
      return launch->emitOpError("writes the upper half of '")
             << mlir::cuda::getBuffer(output).getName() << "'";
    if (failed(verify(output, index)))
      return failure();
  }
  return success();
}

/// Verifies that the bytes of `buffer` that `op` uses, with the memory reserved
/// after it, end in the same part of the memory as they begin.
static LogicalResult verifyEnd(ProgramOp program, Operation &op,
                               BufferOp buffer, int64_t begin, int64_t end) {
  const int64_t arena = program.getArena();
  if (end > int64_t(program.getPredictions().value_or(arena)))
    return op.emitOpError("uses '")
           << buffer.getName() << "' up to " << end << ", beyond the arena";
  if (begin < arena && end > arena)
    return op.emitOpError("uses '")
           << buffer.getName() << "' up to " << end
           << ", in part beyond the arena of " << arena << " bytes";
  return success();
}

/// Verifies that the name of the buffer of `use` is not in `names`, to which it
/// adds it, and that the buffer lies in the arena.
static LogicalResult verifyBuffer(ProgramOp program, Use &use,
                                  llvm::StringSet<> &names) {
  BufferOp buffer = use.buffer;
  // A metric or prediction may have the name of another buffer.
  StringRef role = buffer.getRole().value_or("");
  bool isResult = role == "metric" || role == "prediction";
  if (!names
           .insert(
               ((isResult ? role.str() + ":" : "") + buffer.getName()).str())
           .second)
    return buffer.emitOpError("has the name '")
           << buffer.getName() << "', which another buffer has";
  int64_t bytes = program.getPredictions().value_or(program.getArena());
  if (!llvm::checkedAdd(use.begin(), use.bytes))
    return buffer.emitOpError("starts at ")
           << use.begin() << ", beyond the arena of " << bytes << " bytes";
  if (use.end() > bytes)
    return buffer.emitOpError("ends at ")
           << use.end() << ", beyond the arena of " << bytes << " bytes";
  if (use.begin() < int64_t(program.getArena()) &&
      use.end() > int64_t(program.getArena()))
    return buffer.emitOpError("is in part beyond the arena of ")
           << program.getArena() << " bytes";
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  llvm::MapVector<Operation *, Use> uses;
  llvm::StringSet<> names;
  int64_t position = 0;
  for (Operation &op : getBody().front()) {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (position != 0)
        return buffer.emitOpError("follows a launch, expected all buffers "
                                  "first");
      Use use{buffer};
      use.bytes = buffer.getBytes();
      if (failed(verifyBuffer(*this, use, names)))
        return failure();
      uses.insert({&op, use});
      continue;
    }
    if (isa<ViewOp, UpperHalfOp, AwaitOp>(op))
      continue;
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      return op.emitOpError("cannot be in a 'cuda.program', expected "
                            "buffers, views and launches");
    ++position;
    for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
      BufferOp buffer = mlir::cuda::getBuffer(operand);
      if (!buffer)
        return op.emitOpError("uses something that is not a buffer");
      auto found = uses.find(buffer);
      if (found == uses.end())
        return op.emitOpError("uses the buffer '")
               << buffer.getName() << "', which follows it, expected all "
               << "buffers first";
      Use &use = found->second;
      use.bytes = std::max(use.bytes, getUsedBytes(launch, number));
      if (failed(verifyEnd(*this, op, buffer, use.begin(), use.end())))
        return failure();
      if (use.first < 0)
        use.first = position;
      use.last = position;
    }
    if (failed(verifyHalves(launch)))
      return failure();
    // A launch must not read or write its output another time, unless it can
    // work in place.
    for (auto [target, output] : llvm::enumerate(launch.getOutputs())) {
      BufferOp written = mlir::cuda::getBuffer(output);
      if (written.isConstant())
        return op.emitOpError("writes the constant '")
               << written.getName() << "'";
      for (auto [input, value] : llvm::enumerate(launch.getInputs()))
        if (mlir::cuda::getBuffer(value) == written &&
            !launch.mayAlias(target, input))
          return op.emitOpError("writes '")
                 << written.getName() << "' while it reads it";
      for (Value other : launch.getOutputs().drop_front(target + 1))
        if (mlir::cuda::getBuffer(other) == written)
          return op.emitOpError("writes '") << written.getName() << "' twice";
    }
  }
  // Buffers with a role are always in use.
  SmallVector<Use *> byOffset;
  for (auto &[op, use] : uses) {
    if (use.buffer.getRole()) {
      use.first = 0;
      use.last = position + 1;
    }
    if (use.first >= 0)
      byOffset.push_back(&use);
  }
  llvm::sort(byOffset, [](Use *a, Use *b) {
    return a->begin() != b->begin() ? a->begin() < b->begin()
                                    : a->buffer->isBeforeInBlock(b->buffer);
  });
  for (size_t i = 0; i < byOffset.size(); ++i)
    for (size_t j = i + 1;
         j < byOffset.size() && byOffset[j]->begin() < byOffset[i]->end();
         ++j) {
      Use *a = byOffset[i], *b = byOffset[j];
      if (a->first > b->last || b->first > a->last)
        continue;
      auto diagnostic = b->buffer.emitOpError("overlaps '")
                        << a->buffer.getName() << "' while both are in use";
      diagnostic.attachNote(a->buffer.getLoc())
          << "'" << a->buffer.getName() << "' lies from " << a->begin()
          << " to " << a->end();
      return diagnostic;
    }
  return failure(failed(verifyReads(*this)) || failed(verifyReaders(*this)) ||
                 failed(verifyRefreshes(*this)) || failed(verifyAwaits(*this)));
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAProgramOps.cpp.inc"

void CUDADialect::registerProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAProgramOps.cpp.inc"
      >();
}
