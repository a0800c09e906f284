//===- StableHLOToTrain.cpp - Forward losses of JAX as train graphs -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StableHLO is not linked in: operations are told by name, their dimension
// numbers by text.
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/Passes.h"

#include "StableHLOText.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace mlir::amp {
#define GEN_PASS_DEF_STABLEHLOTOTRAIN
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

namespace {

/// What a value of the dump has become: a value of the new graph, or a number
/// that all its elements are, or, for labels, the argument they come from.
struct Known {
  Value value;
  std::optional<double> number;
};

/// Converts one function, with those that it calls.
class Importer {
public:
  explicit Importer(func::FuncOp function)
      : builder(function.getContext()), function(function) {}

  /// Writes the graph of the function before its old body, which it replaces.
  LogicalResult run(StringRef optimizer, double learningRate);

private:
  void visitBlock(Block &block, SmallVectorImpl<Value> &returned);
  void visit(Operation *op);
  bool convert(Operation *op);
  bool fold(Operation *op);
  bool convertElementwise(Operation *op, StringRef name);
  bool convertMovement(Operation *op, StringRef name);
  bool convertDot(Operation *op);
  bool convertConvolution(Operation *op);
  bool convertReduce(Operation *op);
  bool convertPool(Operation *op);
  bool convertGather(Operation *op);
  void addUpdates(StringRef optimizer, double learningRate, Value loss,
                  SmallVectorImpl<Value> &results);

  TrainBuilder at(Operation *op) { return {builder, op->getLoc()}; }
  std::optional<double> getNumber(Value value) const {
    auto it = known.find(value);
    return it == known.end() ? std::nullopt : it->second.number;
  }
  /// The value in the new graph; a constant for a number.
  Value get(Value value);
  bool set(Operation *op, Value value) {
    known[op->getResult(0)] = {value, std::nullopt};
    return true;
  }
  bool set(Operation *op, double number) {
    if (getElementTypeOrSelf(op->getResult(0)).isF32())
      number = static_cast<float>(number);
    known[op->getResult(0)] = {Value(), number};
    return true;
  }
  static RankedTensorType typeOf(Value value) {
    return dyn_cast<RankedTensorType>(value.getType());
  }
  Value reshape(TrainBuilder &b, Value x, ArrayRef<int64_t> shape) {
    return typeOf(x).getShape() == shape ? x : b.reshape(x, shape);
  }
  Value transpose(TrainBuilder &b, Value x, ArrayRef<int64_t> permutation) {
    return llvm::is_sorted(permutation) ? x : b.transpose(x, permutation);
  }
  /// The operation that computes in the only body of `op`, or nothing.
  static StringRef getBody(Operation *op);
  /// The argument of integers that `value` holds the elements of, in order,
  /// once indices counted from the end are left aside.
  Value findLabels(Value value);
  Value resolve(Value value) const;

  OpBuilder builder;
  func::FuncOp function;
  llvm::DenseMap<Value, Known> known;
  /// What arguments and results of calls are outside or inside.
  llvm::DenseMap<Value, Value> aliases;
  llvm::MapVector<StringRef, unsigned> unsupported;
  Location firstUnsupported = builder.getUnknownLoc();
};

struct StableHLOToTrain final
    : amp::impl::StableHLOToTrainBase<StableHLOToTrain> {
  using Base::Base;

  void runOnOperation() override {
    if (optimizer != "none" && optimizer != "sgd" && optimizer != "adam") {
      getOperation().emitError("stablehlo-to-train: unknown optimizer '")
          << optimizer << "', expected none, sgd or adam";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> steps, others;
    for (auto function : getOperation().getOps<func::FuncOp>())
      (isStepFunction(function) ? steps : others).push_back(function);
    if (steps.empty()) {
      getOperation().emitError(
          "stablehlo-to-train: no function has arguments with 'amp.role'; "
          "expected a loss that is marked by position");
      return signalPassFailure();
    }
    for (func::FuncOp step : steps)
      if (failed(Importer(step).run(optimizer, learningRate)))
        return signalPassFailure();
    // What was called stands in the steps now.
    for (func::FuncOp other : others)
      if (other.isPrivate())
        other.erase();
  }
};

} // namespace

Value Importer::get(Value value) {
  auto it = known.find(value);
  if (it == known.end())
    return {};
  Known &entry = it->second;
  if (entry.value || !entry.number)
    return entry.value;
  auto type = typeOf(value);
  if (!type || !type.hasStaticShape() || !type.getElementType().isF32())
    return {};
  return train::ConstantOp::create(
      builder, value.getLoc(),
      DenseElementsAttr::get(type, static_cast<float>(*entry.number)));
}

StringRef Importer::getBody(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return {};
  Block &body = op->getRegion(0).front();
  if (llvm::range_size(body) != 2)
    return {};
  return body.front().getName().stripDialect();
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

void Importer::visitBlock(Block &block, SmallVectorImpl<Value> &returned) {
  for (Operation &op : block) {
    if (isa<func::ReturnOp>(op)) {
      returned.assign(op.operand_begin(), op.operand_end());
      continue;
    }
    visit(&op);
  }
}

void Importer::visit(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    if (callee && !callee.isExternal()) {
      for (auto [argument, operand] :
           llvm::zip(callee.getArguments(), call.getOperands())) {
        known[argument] = known.lookup(operand);
        aliases[argument] = operand;
      }
      SmallVector<Value> returned;
      visitBlock(callee.getBody().front(), returned);
      for (auto [result, value] : llvm::zip(call.getResults(), returned)) {
        known[result] = known.lookup(value);
        aliases[result] = value;
      }
      return;
    }
  }
  if (convert(op))
    return;
  // Integers and booleans are of use only to those who look for labels.
  bool hasFloats = llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  if (!hasFloats)
    return;
  if (unsupported.empty())
    firstUnsupported = op->getLoc();
  ++unsupported[op->getName().getStringRef()];
  // Go on, to name the others as well.
  for (OpResult result : op->getResults())
    if (auto type = typeOf(result);
        type && type.hasStaticShape() && type.getElementType().isF32())
      known[result] = {Value(), 0.0};
}

bool Importer::convert(Operation *op) {
  StringRef name = op->getName().stripDialect();
  StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect != "stablehlo" && dialect != "chlo") || op->getNumResults() != 1)
    return false;
  auto type = typeOf(op->getResult(0));
  if (!type || !type.hasStaticShape())
    return false;
  if (fold(op))
    return true;
  if (!type.getElementType().isF32() && name != "compare")
    return false;
  if (name == "dot_general")
    return convertDot(op);
  if (name == "convolution")
    return convertConvolution(op);
  if (name == "reduce")
    return convertReduce(op);
  if (name == "reduce_window")
    return convertPool(op);
  if (name == "gather")
    return convertGather(op);
  return convertElementwise(op, name) || convertMovement(op, name);
}

/// Computes `op` if all elements of its operands are one number each.
bool Importer::fold(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name == "constant") {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(op->getAttr("value"));
    if (!elements)
      return false;
    if (!elements.isSplat())
      return elements.getElementType().isF32() &&
             set(op,
                 train::ConstantOp::create(builder, op->getLoc(), elements));
    if (isa<FloatType>(elements.getElementType()))
      return set(op, elements.getSplatValue<APFloat>().convertToDouble());
    if (!elements.getElementType().isSignlessInteger())
      return false;
    APInt value = elements.getSplatValue<APInt>();
    // True is one; all other integers are signed.
    return set(op, value.getBitWidth() == 1 ? double(value.getZExtValue())
                                            : double(value.getSExtValue()));
  }
  SmallVector<double> x;
  for (Value operand : op->getOperands()) {
    std::optional<double> number = getNumber(operand);
    if (!number)
      return false;
    x.push_back(*number);
  }
  if (x.empty() || op->getNumRegions() != 0)
    return false;
  if (name == "compare") {
    StringRef how = getEnum(op, "comparison_direction");
    return set(op, how == "EQ"   ? x[0] == x[1]
                   : how == "NE" ? x[0] != x[1]
                   : how == "GT" ? x[0] > x[1]
                   : how == "GE" ? x[0] >= x[1]
                   : how == "LT" ? x[0] < x[1]
                                 : x[0] <= x[1]);
  }
  if (name == "select")
    return set(op, x[0] != 0 ? x[1] : x[2]);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  if (name == "convert" || name == "broadcast_in_dim" || name == "reshape" ||
      name == "transpose")
    return (isFloat || x[0] == std::trunc(x[0])) && set(op, x[0]);
  auto result = llvm::StringSwitch<std::optional<double>>(name)
                    .Case("negate", -x[0])
                    .Case("sqrt", std::sqrt(x[0]))
                    .Case("is_finite", std::isfinite(x[0]))
                    .Default(std::nullopt);
  if (!result && x.size() == 2)
    result = llvm::StringSwitch<std::optional<double>>(name)
                 .Case("add", x[0] + x[1])
                 .Case("subtract", x[0] - x[1])
                 .Case("multiply", x[0] * x[1])
                 .Case("maximum", std::max(x[0], x[1]))
                 .Case("minimum", std::min(x[0], x[1]))
                 .Default(std::nullopt);
  if (!result && name == "divide" && isFloat)
    result = x[0] / x[1];
  return result && set(op, *result);
}

//===----------------------------------------------------------------------===//
// Elementwise and movement
//===----------------------------------------------------------------------===//

bool Importer::convertElementwise(Operation *op, StringRef name) {
  TrainBuilder b = at(op);
  if (name == "select") {
    if (std::optional<double> chosen = getNumber(op->getOperand(0))) {
      Value value = get(op->getOperand(*chosen != 0 ? 1 : 2));
      return value && set(op, value);
    }
    Value condition = known.lookup(op->getOperand(0)).value;
    // A test of labels for the range of classes, which is the caller's.
    std::optional<double> otherwise = getNumber(op->getOperand(2));
    if (!condition) {
      Value value = get(op->getOperand(1));
      return otherwise && std::isnan(*otherwise) && value && set(op, value);
    }
    Value yes = get(op->getOperand(1)), no = get(op->getOperand(2));
    return yes && no && set(op, b.select(condition, yes, no));
  }
  if (name == "clamp") {
    Value low = get(op->getOperand(0)), x = get(op->getOperand(1)),
          high = get(op->getOperand(2));
    return low && x && high && set(op, b.minimum(b.maximum(x, low), high));
  }
  SmallVector<Value> x;
  for (Value operand : op->getOperands()) {
    Value value = get(operand);
    if (!value)
      return false;
    x.push_back(value);
  }
  if (name == "compare") {
    auto predicate =
        symbolizeComparePredicate(getEnum(op, "comparison_direction").lower());
    return predicate && set(op, b.compare(*predicate, x[0], x[1]));
  }
  Location loc = op->getLoc();
  auto unary = [&](auto tag) {
    using OpTy = decltype(tag);
    return set(op, OpTy::create(builder, loc, x[0].getType(), x[0]));
  };
  if (x.size() == 1) {
    if (name == "logistic")
      return unary(SigmoidOp());
    if (name == "log_plus_one")
      return unary(Log1pOp());
    if (name == "exponential_minus_one")
      return unary(Expm1Op());
    Value result;
    if (name == "negate")
      result = b.neg(x[0]);
    else if (name == "abs")
      result = b.abs(x[0]);
    else if (name == "sign")
      result = b.sign(x[0]);
    else if (name == "exponential")
      result = b.exp(x[0]);
    else if (name == "log")
      result = b.log(x[0]);
    else if (name == "sqrt")
      result = b.sqrt(x[0]);
    else if (name == "rsqrt")
      result = b.rsqrt(x[0]);
    else if (name == "tanh")
      result = b.tanh(x[0]);
    else if (name == "sine")
      result = b.sin(x[0]);
    else if (name == "cosine")
      result = b.cos(x[0]);
    else if (name == "erf")
      result = b.erf(x[0]);
    else if (name == "square")
      result = b.square(x[0]);
    else if (name == "convert" || name == "optimization_barrier")
      result = x[0];
    return result && set(op, result);
  }
  if (x.size() != 2)
    return false;
  // Frameworks define the gradient of relu at 0, that of a maximum is shared.
  if (name == "maximum" && getNumber(op->getOperand(1)) == 0.0)
    return set(op, ReluOp::create(builder, loc, x[0].getType(), x[0]));
  Value result = name == "add"        ? b.add(x[0], x[1])
                 : name == "subtract" ? b.sub(x[0], x[1])
                 : name == "multiply" ? b.mul(x[0], x[1])
                 : name == "divide"   ? b.div(x[0], x[1])
                 : name == "maximum"  ? b.maximum(x[0], x[1])
                 : name == "minimum"  ? b.minimum(x[0], x[1])
                 : name == "power"    ? b.pow(x[0], x[1])
                                      : Value();
  return result && set(op, result);
}

bool Importer::convertMovement(Operation *op, StringRef name) {
  TrainBuilder b = at(op);
  if (op->getNumOperands() == 0)
    return false;
  Value x = get(op->getOperand(0));
  if (!x)
    return false;
  auto type = typeOf(op->getResult(0));
  if (name == "reshape")
    return set(op, reshape(b, x, type.getShape()));
  if (name == "transpose") {
    auto permutation = getNumbers(op, "permutation");
    return permutation && set(op, transpose(b, x, *permutation));
  }
  if (name == "broadcast_in_dim") {
    auto dims = getNumbers(op, "broadcast_dimensions");
    if (!dims || !llvm::is_sorted(*dims))
      return false;
    SmallVector<int64_t> kept, repeated;
    for (int64_t dim = 0, next = 0; dim < type.getRank(); ++dim) {
      bool isThere =
          next < static_cast<int64_t>(dims->size()) && (*dims)[next] == dim;
      int64_t extent = isThere ? typeOf(x).getDimSize(next++) : 1;
      if (extent == type.getDimSize(dim))
        kept.push_back(extent);
      else
        repeated.push_back(dim);
    }
    x = reshape(b, x, kept);
    if (!repeated.empty())
      x = train::BroadcastOp::create(builder, op->getLoc(), type, x, Value(),
                                     repeated, /*mean=*/false);
    return set(op, x);
  }
  if (name == "slice") {
    auto from = getNumbers(op, "start_indices");
    auto steps = getNumbers(op, "strides");
    return from && steps &&
           set(op, train::SliceOp::create(builder, op->getLoc(), type, x, *from,
                                          type.getShape(), *steps));
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

bool Importer::convertDot(Operation *op) {
  TrainBuilder b = at(op);
  Value lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
  std::string text = getText(op, "dot_dimension_numbers");
  if (!lhs || !rhs || text.empty())
    return false;
  SmallVector<int64_t> lb = getField(text, "lhs_batching_dimensions"),
                       rb = getField(text, "rhs_batching_dimensions"),
                       lc = getField(text, "lhs_contracting_dimensions"),
                       rc = getField(text, "rhs_contracting_dimensions");
  SmallVector<int64_t> shape;
  for (int64_t dim : lb)
    shape.push_back(typeOf(lhs).getDimSize(dim));
  // Brings an operand into the order batch, first, second, as a matrix.
  auto bring = [&](Value x, ArrayRef<int64_t> batch, ArrayRef<int64_t> inner,
                   bool innerFirst) {
    SmallVector<int64_t> outer;
    for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(inner, dim))
        outer.push_back(dim);
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, innerFirst ? inner : ArrayRef<int64_t>(outer));
    llvm::append_range(order, innerFirst ? ArrayRef<int64_t>(outer) : inner);
    auto count = [&](ArrayRef<int64_t> dims) {
      int64_t product = 1;
      for (int64_t dim : dims)
        product *= typeOf(x).getDimSize(dim);
      return product;
    };
    SmallVector<int64_t> matrix(shape);
    matrix.push_back(count(innerFirst ? inner : ArrayRef<int64_t>(outer)));
    matrix.push_back(count(innerFirst ? ArrayRef<int64_t>(outer) : inner));
    return reshape(b, transpose(b, x, order), matrix);
  };
  lhs = bring(lhs, lb, lc, /*innerFirst=*/false);
  rhs = bring(rhs, rb, rc, /*innerFirst=*/true);
  SmallVector<int64_t> product(typeOf(lhs).getShape());
  product.back() = typeOf(rhs).getShape().back();
  Value result = train::MatmulOp::create(builder, op->getLoc(),
                                         typeOf(lhs).clone(product), lhs, rhs);
  return set(op, reshape(b, result, typeOf(op->getResult(0)).getShape()));
}

bool Importer::convertConvolution(Operation *op) {
  Value x = get(op->getOperand(0)), filter = get(op->getOperand(1));
  StringRef wanted = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  if (!x || !filter ||
      !StringRef(getText(op, "dimension_numbers")).contains(wanted))
    return false;
  auto strides = getNumbers(op, "window_strides");
  auto dilations = getNumbers(op, "rhs_dilation");
  auto spread = getNumbers(op, "lhs_dilation");
  auto padding = getNumbers(op, "padding");
  auto groups = op->getAttrOfType<IntegerAttr>("feature_group_count");
  auto batches = op->getAttrOfType<IntegerAttr>("batch_group_count");
  auto isOne = [](int64_t value) { return value == 1; };
  if ((spread && !llvm::all_of(*spread, isOne)) ||
      (batches && batches.getInt() != 1))
    return false;
  SmallVector<int64_t> ones = {1, 1}, zeros = {0, 0, 0, 0};
  return set(op, train::Conv2DOp::create(
                     builder, op->getLoc(), op->getResult(0).getType(), x,
                     filter, strides.value_or(ones), padding.value_or(zeros),
                     dilations.value_or(ones), groups ? groups.getInt() : 1));
}

bool Importer::convertReduce(Operation *op) {
  if (op->getNumOperands() != 2)
    return false;
  TrainBuilder b = at(op);
  Value x = get(op->getOperand(0));
  auto dims = getNumbers(op, "dimensions");
  std::optional<double> start = getNumber(op->getOperand(1));
  StringRef body = getBody(op);
  if (!x || !dims || !start)
    return false;
  if (body == "add" && *start == 0)
    return set(op, b.sum(x, *dims));
  if (body == "maximum" && std::isinf(*start) && *start < 0)
    return set(op, b.max(x, *dims));
  return false;
}

bool Importer::convertPool(Operation *op) {
  auto window = getNumbers(op, "window_dimensions");
  auto strides = getNumbers(op, "window_strides");
  auto padding = getNumbers(op, "padding");
  auto base = getNumbers(op, "base_dilations");
  auto inner = getNumbers(op, "window_dilations");
  auto isOne = [](int64_t value) { return value == 1; };
  if (op->getNumOperands() != 2 || !window || window->size() != 4 ||
      (base && !llvm::all_of(*base, isOne)) ||
      (inner && !llvm::all_of(*inner, isOne)) || getBody(op) != "maximum")
    return false;
  Value x = get(op->getOperand(0));
  std::optional<double> start = getNumber(op->getOperand(1));
  SmallVector<int64_t> ones(4, 1), zeros(8, 0);
  SmallVector<int64_t> step = strides.value_or(ones),
                       pad = padding.value_or(zeros);
  if (!x || !start || !std::isinf(*start) || *start > 0 || (*window)[0] != 1 ||
      (*window)[3] != 1 || step[0] != 1 || step[3] != 1 || pad.size() != 8 ||
      pad[0] || pad[1] || pad[6] || pad[7])
    return false;
  return set(op, train::MaxPool2DOp::create(
                     builder, op->getLoc(), op->getResult(0).getType(), x,
                     ArrayRef<int64_t>(*window).slice(1, 2),
                     ArrayRef<int64_t>(step).slice(1, 2),
                     ArrayRef<int64_t>(pad).slice(2, 4)));
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

Value Importer::resolve(Value value) const {
  while (Value next = aliases.lookup(value))
    value = next;
  return value;
}

Value Importer::findLabels(Value value) {
  auto sizeOf = [](Value v) {
    auto type = typeOf(v);
    return type && type.hasStaticShape() ? type.getNumElements() : -1;
  };
  while (true) {
    value = resolve(value);
    Operation *op = value.getDefiningOp();
    if (!op)
      break;
    StringRef name = op->getName().stripDialect();
    bool moves = name == "reshape" || name == "broadcast_in_dim";
    // Indices below 0 count from the end; labels are not.
    bool wraps = name == "select" && resolve(op->getOperand(2)) != value;
    if (moves && sizeOf(op->getOperand(0)) == sizeOf(value))
      value = op->getOperand(0);
    else if (wraps)
      value = op->getOperand(2);
    else
      return {};
  }
  auto type = typeOf(value);
  return type &&
                 (type.getElementType().isSignlessInteger(32) ||
                  type.getElementType().isSignlessInteger(64)) &&
                 value.getParentBlock() == &function.getBody().back()
             ? known.lookup(value).value
             : Value();
}

/// One element of each row, at a label: what take_along_axis becomes.
bool Importer::convertGather(Operation *op) {
  TrainBuilder b = at(op);
  Value x = get(op->getOperand(0));
  Value labels = findLabels(op->getOperand(1));
  std::string text = getText(op, "dimension_numbers");
  auto sizes = getNumbers(op, "slice_sizes");
  if (!x || !labels || text.empty() || !sizes || typeOf(x).getRank() != 2 ||
      typeOf(labels).getRank() != 1 ||
      typeOf(labels).getDimSize(0) != typeOf(x).getDimSize(0) ||
      *sizes != SmallVector<int64_t>{1, 1} ||
      getField(text, "start_index_map") != SmallVector<int64_t>{1} ||
      getField(text, "operand_batching_dims") != SmallVector<int64_t>{0})
    return false;
  Value chosen =
      train::OneHotOp::create(builder, op->getLoc(), x.getType(), labels);
  Value picked = b.sum(b.mul(x, chosen), 1);
  return set(op, reshape(b, picked, typeOf(op->getResult(0)).getShape()));
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

LogicalResult Importer::run(StringRef optimizer, double learningRate) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a loss of one block");
  Block *old = &function.getBody().front();
  unsigned loss = function.getNumResults();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto metric = function.getResultAttrOfType<StringAttr>(
            i, AMPDialect::kMetricAttr);
        metric && metric.getValue() == "loss")
      loss = i;
  bool updates = optimizer != "none";
  if (updates &&
      (loss == function.getNumResults() || function.getNumResults() != 1))
    return function.emitError(
        "expected a loss as the only result, with 'amp.metric' = \"loss\"");

  Block *block =
      builder.createBlock(&function.getBody(), function.getBody().begin());
  for (BlockArgument argument : old->getArguments())
    known[argument] = {
        block->addArgument(argument.getType(), argument.getLoc()),
        std::nullopt};
  SmallVector<Value> returned, results;
  visitBlock(*old, returned);
  for (Value value : returned)
    results.push_back(get(value));
  if (unsupported.empty() && llvm::is_contained(results, Value()))
    ++unsupported["a result that is no tensor<...xf32>"];
  if (!unsupported.empty()) {
    block->dropAllReferences();
    block->erase();
    auto diag = emitError(firstUnsupported)
                << "stablehlo-to-train: unsupported here: ";
    llvm::interleaveComma(unsupported, diag, [&](const auto &entry) {
      diag << entry.second << " x " << entry.first;
    });
    return diag;
  }
  builder.setInsertionPointToEnd(block);
  if (updates)
    addUpdates(optimizer, learningRate, results[0], results);
  func::ReturnOp::create(builder, function.getLoc(), results);
  // Values of the old body are read in callees by nobody any more.
  old->dropAllDefinedValueUses();
  old->erase();
  return success();
}

/// Appends gradients and an update of each parameter, with the state of the
/// optimizer as arguments.
void Importer::addUpdates(StringRef optimizer, double learningRate, Value loss,
                          SmallVectorImpl<Value> &results) {
  Block *block = loss.getParentBlock();
  MLIRContext *context = function.getContext();
  Location loc = function.getLoc();
  StringAttr roleName = StringAttr::get(context, AMPDialect::kRoleAttr);
  StringAttr nameName = StringAttr::get(context, AMPDialect::kNameAttr);
  StringAttr initName = StringAttr::get(context, AMPDialect::kInitAttr);
  SmallVector<std::pair<std::string, Value>> parameters;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto role = function.getArgAttrOfType<StringAttr>(i, roleName);
    auto name = function.getArgAttrOfType<StringAttr>(i, nameName);
    if (role && name && role.getValue() == "parameter")
      parameters.push_back({name.str(), block->getArgument(i)});
  }
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto zeros = InitAttr::get(context, InitKind::Zeros, {}, {}, {});
  auto add = [&](Role role, const Twine &name, Type type, InitAttr init) {
    unsigned index = function.getNumArguments();
    DictionaryAttr attributes = builder.getDictionaryAttr(
        {{roleName, builder.getStringAttr(stringifyRole(role))},
         {nameName, builder.getStringAttr(name)},
         {initName, init}});
    // The old block is still an entry block to nobody: add by hand.
    Value argument = block->addArgument(type, loc);
    SmallVector<Type> inputs(function.getArgumentTypes());
    inputs.push_back(type);
    function.setFunctionType(FunctionType::get(
        context, inputs, function.getFunctionType().getResults()));
    SmallVector<Attribute> all;
    if (ArrayAttr present = function.getArgAttrsAttr())
      all.assign(present.begin(), present.end());
    all.resize(index, builder.getDictionaryAttr({}));
    all.push_back(attributes);
    function.setArgAttrsAttr(builder.getArrayAttr(all));
    return argument;
  };
  SmallVector<Value> wrt;
  SmallVector<Type> types;
  for (auto &[name, value] : parameters) {
    wrt.push_back(value);
    types.push_back(value.getType());
  }
  auto gradients = train::GradientsOp::create(builder, loc, types, loss, wrt);
  bool adam = optimizer == "adam";
  auto rate = InitAttr::get(context, InitKind::Constant,
                            builder.getF64FloatAttr(learningRate), {}, {});
  Value lr = add(Role::Hyperparameter, "lr", scalar, rate);
  Value step, next;
  SmallVector<std::pair<std::string, Value>> updated;
  if (adam) {
    step = add(Role::OptimizerState, "step", scalar, zeros);
    TrainBuilder b(builder, loc);
    next = b.add(step, 1.0);
    updated.push_back({"step", next});
  }
  for (auto [parameter, gradient] :
       llvm::zip(parameters, gradients.getResults())) {
    Value w = parameter.second;
    const std::string &name = parameter.first;
    if (!adam) {
      auto update = train::SGDOp::create(builder, loc, TypeRange(w.getType()),
                                         ValueRange{w, gradient, lr});
      updated.push_back({name, update->getResult(0)});
      continue;
    }
    Value m = add(Role::OptimizerState, name + ".m", w.getType(), zeros);
    Value v = add(Role::OptimizerState, name + ".v", w.getType(), zeros);
    Type same[] = {w.getType(), w.getType(), w.getType()};
    auto update = train::AdamOp::create(
        builder, loc, TypeRange(same), ValueRange{w, gradient, lr, m, v, next});
    updated.push_back({name, update->getResult(0)});
    updated.push_back({name + ".m", update->getResult(1)});
    updated.push_back({name + ".v", update->getResult(2)});
  }
  SmallVector<Attribute> attributes;
  SmallVector<Type> resultTypes;
  Attribute metric = function.getResultAttrDict(0);
  results.clear();
  for (auto &[name, value] : updated) {
    results.push_back(value);
    resultTypes.push_back(value.getType());
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        AMPDialect::kUpdatesAttr, builder.getStringAttr(name))));
  }
  results.push_back(loss);
  resultTypes.push_back(loss.getType());
  attributes.push_back(metric);
  function.setFunctionType(
      FunctionType::get(context, function.getArgumentTypes(), resultTypes));
  function.setResAttrsAttr(builder.getArrayAttr(attributes));
}
