//===- RandomGraph.cpp - Random training graphs ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <random>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::test;

void mlir::amp::test::registerRandomGraphDialects(DialectRegistry &registry) {
  registry.insert<AMPDialect, arith::ArithDialect, func::FuncDialect,
                  quant::QuantDialect, scf::SCFDialect, tensor::TensorDialect,
                  train::TrainDialect>();
}

namespace {

using Attributes = SmallVector<std::pair<StringRef, Attribute>>;

/// Builds one module. One list holds the values in scope, innermost last.
class Generator {
public:
  Generator(MLIRContext *context, const RandomGraphOptions &options,
            StringRef name)
      : options(options), name(name), engine(options.seed),
        b(UnknownLoc::get(context), context), f32(b.getF32Type()) {}

  OwningOpRef<ModuleOp> make();

private:
  //===--------------------------------------------------------------------===//
  // Chance
  //===--------------------------------------------------------------------===//

  /// A number below `bound`. Distributions of standard libraries differ, so
  /// this uses none.
  uint64_t below(uint64_t bound) { return engine() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element = {}) {
    return RankedTensorType::get(shape, element ? element : Type(f32));
  }
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  bool isF32(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType() == f32;
  }

  /// A value in scope that `accept` accepts, or null. Prefers recent values.
  template <typename Accept>
  Value pick(Accept accept) {
    SmallVector<Value> found;
    for (Value value : scope)
      if (accept(value))
        found.push_back(value);
    if (found.empty())
      return {};
    size_t last = std::min<size_t>(found.size(), 3);
    return chance(60) ? found[found.size() - 1 - below(last)]
                      : found[below(found.size())];
  }
  Value pickRank(int64_t low, int64_t high) {
    return pick([&](Value value) {
      return isF32(value) &&
             static_cast<int64_t>(shapeOf(value).size()) >= low &&
             static_cast<int64_t>(shapeOf(value).size()) <= high;
    });
  }
  Value pickType(Type type) {
    return pick([&](Value value) { return value.getType() == type; });
  }
  /// An operand that broadcasts to `value`.
  Value pickPartner(Value value) {
    ArrayRef<int64_t> shape = shapeOf(value);
    return pick([&](Value other) {
      if (!isF32(other))
        return false;
      ArrayRef<int64_t> have = shapeOf(other);
      return have == shape || have.empty() ||
             (have.size() == 1 && !shape.empty() && have[0] == shape.back() &&
              !ShapedType::isDynamic(have[0]));
    });
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  Operation *emit(StringRef opName, ValueRange operands, TypeRange results,
                  const Attributes &attributes = {}) {
    OperationState state(b.getLoc(), opName, operands, results, {});
    for (auto [key, value] : attributes)
      state.addAttribute(key, value);
    Operation *op = b.create(state);
    if (options.pins && chance(5))
      pin(op);
    bool isGradient = llvm::any_of(op->getResults(),
                                   [&](Value value) { return isF32(value); });
    if (isGradient && chance(4)) {
      SmallVector<Attribute> names(op->getNumResults(), b.getStringAttr(""));
      names.front() = b.getStringAttr("w");
      op->setAttr(AMPDialect::kGradientOfAttr, b.getArrayAttr(names));
    }
    llvm::append_range(scope, op->getResults());
    return op;
  }
  Operation *unary(StringRef opName, Value operand,
                   const Attributes &attributes = {}) {
    return emit(opName, operand, operand.getType(), attributes);
  }
  void pin(Operation *op) {
    op->setAttr(AMPDialect::kPrecisionAttr,
                b.getStringAttr(oneOf<StringRef>({"f32", "low", "keep"})));
  }
  Value constant(Type type, double value) {
    auto attribute = DenseElementsAttr::get(
        cast<ShapedType>(type),
        b.getFloatAttr(cast<ShapedType>(type).getElementType(), value));
    return emit("train.constant", {}, type, {{"value", attribute}})
        ->getResult(0);
  }

  void addOperation(unsigned depth);
  void addElementwise();
  void addProduct();
  void addShape();
  void addReduction();
  void addNormalization();
  void addImage();
  void addLoss();
  void addLow();
  void addForeign();
  void addCall();
  void addRegion(unsigned depth);
  void fill(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i)
      addOperation(depth);
  }
  void addIf(unsigned depth);
  void addFor(unsigned depth);
  void addWhile(unsigned depth);
  void addForall(unsigned depth);
  /// Values that a loop carries from here on.
  SmallVector<Value> pickCarried();
  /// One value in scope of each type, which `fallback` has.
  SmallVector<Value> pickLike(ValueRange fallback);
  void addFunction(StringRef functionName, unsigned size, bool isMain);

  RandomGraphOptions options;
  StringRef name;
  std::mt19937_64 engine;
  ImplicitLocOpBuilder b;
  Type f32;
  SmallVector<Value> scope;
  SmallVector<func::FuncOp> callees;
  Value condition, tripCount, zero, one;
};

} // namespace

void Generator::addElementwise() {
  Value a = pickRank(0, 4);
  if (chance(50)) {
    StringRef opName =
        options.executable
            ? oneOf<StringRef>(
                  {"tanh", "sigmoid", "relu", "neg", "abs", "tanh"})
            : oneOf<StringRef>({"tanh", "sigmoid", "gelu", "sqrt", "relu",
                                "relu", "neg", "abs", "sign", "exp", "square",
                                "rsqrt", "log"});
    unary(("train." + opName).str(), a);
    return;
  }
  if (chance(8)) {
    unary("train.clip", a,
          {{"min", b.getF64FloatAttr(-1.0)}, {"max", b.getF64FloatAttr(2.0)}});
    return;
  }
  Value other = pickPartner(a);
  if (!options.executable && chance(10)) {
    auto bits = tensor(shapeOf(a), b.getI1Type());
    Value is = emit("train.compare", {a, other}, bits,
                    {{"predicate", b.getI32IntegerAttr(below(6))}})
                   ->getResult(0);
    emit("train.select", {is, a, other}, a.getType());
    return;
  }
  StringRef opName =
      options.executable
          ? oneOf<StringRef>({"add", "sub", "mul", "maximum", "minimum"})
          : oneOf<StringRef>(
                {"add", "sub", "mul", "div", "maximum", "minimum", "pow"});
  emit(("train." + opName).str(), {a, other}, a.getType());
}

void Generator::addProduct() {
  Value a = pickRank(2, 2);
  ArrayRef<int64_t> shape = shapeOf(a);
  if (chance(25) && shape[1] == 8) {
    Value weight = pickType(tensor({8, 8})), bias = pickType(tensor({8}));
    emit("train.linear", {a, weight, bias}, tensor({shape[0], 8}));
    return;
  }
  Value right = pick([&](Value value) {
    return isF32(value) && shapeOf(value).size() == 2 &&
           shapeOf(value)[0] == shape[1] && !ShapedType::isDynamic(shape[1]) &&
           !ShapedType::isDynamic(shapeOf(value)[1]);
  });
  if (right && chance(80)) {
    emit("train.matmul", {a, right}, tensor({shape[0], shapeOf(right)[1]}));
    return;
  }
  // Contract over the rows with a tensor of as many.
  right = pick([&](Value value) {
    return isF32(value) && shapeOf(value).size() == 2 &&
           shapeOf(value)[0] == shape[0] &&
           !ShapedType::isDynamic(shapeOf(value)[1]);
  });
  if (right && !ShapedType::isDynamic(shape[1]))
    emit("train.matmul", {a, right}, tensor({shape[1], shapeOf(right)[1]}),
         {{"transpose_a", b.getUnitAttr()}});
}

void Generator::addShape() {
  Value a = pickRank(2, 2);
  ArrayRef<int64_t> shape = shapeOf(a);
  bool isStatic = !ShapedType::isDynamic(shape[0]);
  switch (below(6)) {
  case 0:
    if (isStatic)
      emit("train.transpose", a, tensor({shape[1], shape[0]}),
           {{"permutation", b.getDenseI64ArrayAttr({1, 0})}});
    return;
  case 1:
    if (isStatic)
      emit("train.reshape", a, tensor({shape[1], shape[0]}));
    return;
  case 2: {
    if (shape[1] < 4)
      return;
    int64_t size = isStatic ? shape[0] : -1;
    emit("train.slice", a, tensor({shape[0], 4}),
         {{"offsets", b.getDenseI64ArrayAttr({0, 0})},
          {"sizes", b.getDenseI64ArrayAttr({size, 4})},
          {"strides", b.getDenseI64ArrayAttr({1, 1})}});
    return;
  }
  case 3:
    if (shape[1] == 4)
      emit("train.pad", a, tensor({shape[0], 8}),
           {{"low", b.getDenseI64ArrayAttr({0, 1})},
            {"high", b.getDenseI64ArrayAttr({0, 3})},
            {"interior", b.getDenseI64ArrayAttr({0, 0})}});
    return;
  case 4: {
    if (shape[1] != 4)
      return;
    Value other = pickType(a.getType());
    emit("train.concat", {a, other}, tensor({shape[0], 8}),
         {{"axis", b.getI64IntegerAttr(1)}});
    return;
  }
  default: {
    Value row = pickType(tensor({shape[1]}));
    if (row)
      emit("train.broadcast", {row, a}, a.getType(),
           {{"dims", b.getDenseI64ArrayAttr({0})}});
    return;
  }
  }
}

void Generator::addReduction() {
  Value a = pickRank(2, 2);
  ArrayRef<int64_t> shape = shapeOf(a);
  StringRef opName =
      oneOf<StringRef>({"reduce_sum", "reduce_mean", "reduce_max"});
  int64_t dim = below(2);
  bool keep = chance(30);
  SmallVector<int64_t> result(shape);
  if (keep)
    result[dim] = 1;
  else
    result.erase(result.begin() + dim);
  Attributes attributes = {{"dims", b.getDenseI64ArrayAttr({dim})}};
  if (keep)
    attributes.push_back({"keep_dims", b.getUnitAttr()});
  Value value = emit(("train." + opName).str(), a, tensor(result), attributes)
                    ->getResult(0);
  // A column takes part again by broadcasting.
  if (keep && chance(70))
    emit("train.sub", {a, value}, a.getType());
}

void Generator::addNormalization() {
  Value a = pickRank(2, 2);
  ArrayRef<int64_t> shape = shapeOf(a);
  Attribute axis = b.getI64IntegerAttr(1);
  if (options.executable || chance(50)) {
    StringRef opName = options.executable || chance(70) ? "train.softmax"
                                                        : "train.log_softmax";
    unary(opName, a, {{"axis", axis}});
    return;
  }
  Value scale = pickType(tensor({shape[1]}));
  if (!scale)
    return;
  if (chance(60)) {
    Type rows = tensor({shape[0]});
    emit("train.layer_norm", {a, scale, scale}, {a.getType(), rows, rows});
    return;
  }
  if (shape[0] == 1)
    return;
  Type channel = scale.getType();
  emit("train.batch_norm_training", {a, scale, scale, scale, scale},
       {a.getType(), channel, channel, channel, channel});
}

void Generator::addImage() {
  Value image = pick([&](Value value) {
    return isF32(value) && shapeOf(value).size() == 4 &&
           shapeOf(value)[1] == 4 && shapeOf(value)[3] == 4;
  });
  Value filter = pickType(tensor({3, 3, 4, 4}));
  if (!image || !filter || filter == image)
    return;
  int64_t batch = shapeOf(image)[0];
  auto window = b.getDenseI64ArrayAttr({2, 2});
  switch (below(4)) {
  case 0:
    emit("train.max_pool2d", image, tensor({batch, 2, 2, 4}),
         {{"window", window}, {"strides", window}});
    return;
  case 1:
    emit("train.avg_pool2d", image, tensor({batch, 2, 2, 4}),
         {{"window", window}, {"strides", window}});
    return;
  default:
    emit("train.conv2d", {image, filter}, image.getType(),
         {{"padding", b.getDenseI64ArrayAttr({1, 1, 1, 1})}});
    return;
  }
}

void Generator::addLoss() {
  Value a = pickRank(2, 2);
  Value other = pickType(a.getType());
  StringRef opName = oneOf<StringRef>({"train.mse", "train.l1"});
  if (options.executable || chance(50)) {
    emit(opName, {a, other}, tensor({}));
    return;
  }
  if (chance(50)) {
    // A piece of a backward pass.
    Value seed = emit("amp.gradient_seed", {}, tensor({}),
                      {{"loss", b.getStringAttr("loss")}})
                     ->getResult(0);
    Value grad =
        emit("train.mse_grad", {a, other, seed}, a.getType())->getResult(0);
    unary("train.relu", a);
    emit("train.relu_grad", {scope.back(), grad}, a.getType());
    return;
  }
  Value weight = pickType(tensor({8, 8}));
  Value grad = pickType(weight.getType()), rate = pickType(tensor({}));
  emit("train.sgd", {weight, grad, rate}, weight.getType());
}

void Generator::addLow() {
  Type low = chance(60) ? Type(b.getF16Type()) : Type(b.getBF16Type());
  Value a = pickRank(0, 2);
  auto lowType = tensor(shapeOf(a), low);
  Value narrow = emit("amp.cast", a, lowType)->getResult(0);
  if (chance(40))
    narrow = unary("train.relu", narrow)->getResult(0);
  if (chance(30)) {
    Value other = pickType(lowType);
    narrow = emit("train.add", {narrow, other}, lowType)->getResult(0);
  }
  if (!options.executable && chance(10))
    emit("train.mse", {narrow, narrow}, tensor({}));
  if (chance(20) && !options.executable && lowType.hasStaticShape())
    constant(lowType, 0.1);
  if (chance(70)) {
    Attributes attributes;
    if (!options.executable && chance(15))
      attributes.push_back({"inserted", b.getUnitAttr()});
    emit("amp.cast", narrow, a.getType(), attributes);
  }
}

void Generator::addForeign() {
  MLIRContext *context = b.getContext();
  Type f8 = Float8E4M3FNType::get(context);
  Type quantised = quant::UniformQuantizedType::get(
      quant::QuantizationFlags::Signed, b.getI8Type(), f32, 0.5, 3, -128, 127);
  Type types[] = {UnrankedTensorType::get(f32),
                  UnrankedTensorType::get(b.getF16Type()),
                  MemRefType::get({4, 8}, f32),
                  MemRefType::get({4, 8}, b.getF16Type()),
                  VectorType::get({4}, f32),
                  VectorType::get({4}, b.getBF16Type()),
                  tensor({4}, ComplexType::get(f32)),
                  tensor({4, 8}, b.getF64Type()),
                  tensor({4}, Float80Type::get(context)),
                  tensor({4, 8}, f8),
                  tensor({4}, quantised),
                  f32,
                  b.getF16Type(),
                  tensor({4}, VectorType::get({2}, f32)),
                  tensor({4, 8}, b.getI32Type())};
  SmallVector<Value> operands;
  for (unsigned i = 0, e = below(4); i < e; ++i)
    operands.push_back(scope[below(scope.size())]);
  SmallVector<Type> results;
  for (unsigned i = 0, e = below(4); i < e; ++i)
    results.push_back(types[below(std::size(types))]);
  if (Value a = pickRank(0, 2); a && chance(60)) {
    operands.push_back(a);
    results.push_back(a.getType());
  }
  switch (below(4)) {
  case 0:
    // The policy of the tests lists these, as infer and clear; they may have
    // values of one type only.
    if (Value a = pickRank(0, 4))
      emit(oneOf<StringRef>({"foreign.infer", "foreign.clear"}), {a, a},
           {a.getType(), a.getType()});
    return;
  case 1:
    if (Value a = pickType(tensor({4, 8}, b.getF64Type())))
      unary(oneOf<StringRef>({"train.relu", "train.tanh"}), a);
    return;
  default:
    emit("foreign.op", operands, results);
    return;
  }
}

SmallVector<Value> Generator::pickCarried() {
  SmallVector<Value> carried;
  for (unsigned i = 0, e = 1 + below(3); i < e; ++i)
    carried.push_back(!options.executable && chance(15)
                          ? scope[below(scope.size())]
                          : pickRank(0, 2));
  return carried;
}

SmallVector<Value> Generator::pickLike(ValueRange fallback) {
  SmallVector<Value> values;
  for (Value value : fallback)
    values.push_back(pickType(value.getType()));
  return values;
}

void Generator::addIf(unsigned depth) {
  SmallVector<Value> like = pickCarried();
  size_t mark = scope.size();
  SmallVector<Type> types(ValueRange(like).getTypes());
  auto op = scf::IfOp::create(b, types, condition, /*addThenBlock=*/true,
                              /*addElseBlock=*/true);
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&region->front());
    fill(below(5), depth + 1);
    scf::YieldOp::create(b, pickLike(like));
    scope.resize(mark);
  }
  if (options.pins && chance(10))
    pin(op);
  llvm::append_range(scope, op.getResults());
}

void Generator::addFor(unsigned depth) {
  SmallVector<Value> initial = pickCarried();
  size_t mark = scope.size();
  auto op = scf::ForOp::create(b, zero, tripCount, one, initial);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(op.getBody());
    llvm::append_range(scope, op.getRegionIterArgs());
    fill(below(5), depth + 1);
    scf::YieldOp::create(b, pickLike(op.getRegionIterArgs()));
    scope.resize(mark);
  }
  if (options.pins && chance(10))
    pin(op);
  llvm::append_range(scope, op.getResults());
}

void Generator::addWhile(unsigned depth) {
  SmallVector<Value> initial = pickCarried();
  size_t mark = scope.size();
  SmallVector<Type> types(ValueRange(initial).getTypes());
  // What leaves the loop may be more, or other values than it carries.
  Value extra = pickRank(0, 2);
  SmallVector<Type> after = types;
  after.push_back(extra.getType());
  auto op = scf::WhileOp::create(
      b, after, initial,
      [&](OpBuilder &, Location, ValueRange arguments) {
        llvm::append_range(scope, arguments);
        fill(below(3), depth + 1);
        SmallVector<Value> passed = pickLike(arguments);
        passed.push_back(pickType(extra.getType()));
        scf::ConditionOp::create(b, condition, passed);
        scope.resize(mark);
      },
      [&](OpBuilder &, Location, ValueRange arguments) {
        llvm::append_range(scope, arguments);
        fill(below(4), depth + 1);
        scf::YieldOp::create(b, pickLike(arguments.drop_back()));
        scope.resize(mark);
      });
  llvm::append_range(scope, op.getResults());
}

/// Rows that are computed in parallel and inserted into a shared tensor.
void Generator::addForall(unsigned depth) {
  Value shared = pick([&](Value value) {
    return isF32(value) && shapeOf(value).size() == 2 &&
           cast<RankedTensorType>(value.getType()).hasStaticShape();
  });
  if (!shared)
    return;
  int64_t rows = shapeOf(shared)[0], columns = shapeOf(shared)[1];
  size_t mark = scope.size();
  auto op = scf::ForallOp::create(
      b, ArrayRef<OpFoldResult>{b.getIndexAttr(rows)}, shared, std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op.getTerminator());
    SmallVector<OpFoldResult> offsets = {op.getInductionVar(0),
                                         b.getIndexAttr(0)},
                              sizes = {b.getIndexAttr(1),
                                       b.getIndexAttr(columns)},
                              strides(2, b.getIndexAttr(1));
    Value target = op.getRegionIterArgs().front();
    scope.push_back(target);
    Value source = pickType(shared.getType());
    Value row =
        tensor::ExtractSliceOp::create(b, source, offsets, sizes, strides);
    scope.push_back(row);
    fill(below(4), depth + 1);
    Value computed = pickType(row.getType());
    b.setInsertionPointToStart(op.getTerminator().getBody());
    auto insert = tensor::ParallelInsertSliceOp::create(
        b, computed, target, offsets, sizes, strides);
    if (options.pins && chance(5))
      pin(insert);
    scope.resize(mark);
  }
  if (options.pins && chance(10))
    pin(op);
  llvm::append_range(scope, op.getResults());
}

void Generator::addRegion(unsigned depth) {
  unsigned choice = below(options.executable ? 2 : 4);
  if (choice == 0)
    addIf(depth);
  else if (choice == 1)
    addFor(depth);
  else if (choice == 2)
    addWhile(depth);
  else
    addForall(depth);
}

void Generator::addCall() {
  if (callees.empty())
    return;
  func::FuncOp callee = callees[below(callees.size())];
  SmallVector<Value> operands;
  for (Type type : callee.getArgumentTypes()) {
    operands.push_back(pickType(type));
    if (!operands.back())
      return;
  }
  auto call = func::CallOp::create(b, callee, operands);
  if (options.pins && chance(4))
    pin(call);
  llvm::append_range(scope, call.getResults());
}

void Generator::addOperation(unsigned depth) {
  unsigned draw = below(100);
  if (draw < 30)
    return addElementwise();
  if (draw < 52)
    return addProduct();
  if (draw < 60)
    return addShape();
  if (draw < 65)
    return addReduction();
  if (draw < 71)
    return addNormalization();
  if (draw < 75)
    return options.executable ? addElementwise() : addImage();
  if (draw < 79)
    return addLoss();
  if (draw < 82) {
    constant(tensor({oneOf<int64_t>({4, 8})}), oneOf({0.1, 0.5, -2.0, 1.0e-3}));
    if (!options.executable && chance(20))
      constant(tensor({8}), -1.0e9);
    return;
  }
  if (draw < 86)
    return options.lowInput ? addLow() : addElementwise();
  if (draw < 91)
    return options.foreign ? addForeign() : addProduct();
  if (draw < 95)
    return options.calls ? addCall() : addProduct();
  if (options.controlFlow && depth < 3)
    addRegion(depth);
}

void Generator::addFunction(StringRef functionName, unsigned size,
                            bool isMain) {
  int64_t batch = options.dynamic ? ShapedType::kDynamic : 4;
  SmallVector<Type> types = {tensor({batch, 8}), tensor({8, 8}), tensor({8, 4}),
                             tensor({8}),        tensor({4}),    tensor({})};
  if (isMain && options.executable) {
    types.append({tensor({4, 8}), tensor({}, b.getI1Type())});
  } else if (isMain) {
    types.append({tensor({4, 8}), tensor({batch, 4, 4, 4}),
                  tensor({3, 3, 4, 4}), b.getI1Type(), b.getIndexType()});
  } else {
    types.resize(1 + below(3));
    types.append({b.getI1Type(), b.getIndexType()});
  }
  auto function =
      func::FuncOp::create(b, functionName, b.getFunctionType(types, {}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(function.addEntryBlock());
  scope.clear();
  // Integers of the scope go to calls; floats to everything.
  llvm::append_range(scope, function.getArguments());
  tripCount = function.getArguments().back();
  condition = function.getArguments().drop_back().back();
  if (isMain && options.executable)
    condition = tensor::ExtractOp::create(b, tripCount, ValueRange());
  zero = arith::ConstantIndexOp::create(b, 0);
  one = arith::ConstantIndexOp::create(b, 1);
  if (options.executable)
    tripCount = arith::ConstantIndexOp::create(b, 2);
  if (isMain && options.executable)
    scope.append({condition, tripCount});
  if (!isMain) {
    // Constants for the operands of products in a small function.
    constant(tensor({8, 8}), 0.25);
    constant(tensor({8}), 0.5);
    constant(tensor({}), 0.5);
  }
  fill(size, 0);

  SmallVector<Value> returned;
  for (unsigned i = 0, e = 1 + below(3); i < e; ++i)
    returned.push_back(pickRank(0, 4));
  // Use the whole shape of the first argument.
  returned.push_back(pickType(types.front()));
  if (isMain && !options.executable && chance(50))
    returned.push_back(scope[below(scope.size())]);
  func::ReturnOp::create(b, returned);
  function.setFunctionType(
      b.getFunctionType(types, ValueRange(returned).getTypes()));
  if (!isMain)
    function.setPrivate();
  if (options.pins && chance(4))
    pin(function);
  if (isMain && !options.executable) {
    auto text = [&](StringRef value) { return b.getStringAttr(value); };
    function.setArgAttr(1, AMPDialect::kRoleAttr, text("parameter"));
    function.setArgAttr(1, AMPDialect::kNameAttr, text("w"));
    function.setArgAttr(0, AMPDialect::kRoleAttr, text("batch"));
    function.setArgAttr(0, AMPDialect::kNameAttr, text("x"));
    for (auto [index, value] : llvm::enumerate(returned))
      if (value.getType() == types[1]) {
        function.setResultAttr(index, AMPDialect::kUpdatesAttr, text("w"));
        break;
      }
  }
}

OwningOpRef<ModuleOp> Generator::make() {
  if (options.executable)
    options.foreign = options.dynamic = false;
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(module->getBody());
  if (options.calls) {
    if (!options.executable && chance(20)) {
      int64_t batch = options.dynamic ? ShapedType::kDynamic : 4;
      auto declared = func::FuncOp::create(
          b, (name + "_declared").str(),
          b.getFunctionType(tensor({batch, 8}), tensor({batch, 8})));
      declared.setPrivate();
      callees.push_back(declared);
    }
    for (unsigned i = 0, e = below(4); i < e; ++i) {
      std::string helper = (name + "_helper" + Twine(i)).str();
      addFunction(helper, 1 + below(8), /*isMain=*/false);
      auto function = cast<func::FuncOp>(module->getBody()->back());
      callees.push_back(function);
    }
  }
  addFunction(name, options.size, /*isMain=*/true);
  return module;
}

OwningOpRef<ModuleOp> mlir::amp::test::makeRandomGraph(
    MLIRContext *context, const RandomGraphOptions &options, StringRef name) {
  return Generator(context, options, name).make();
}

void mlir::amp::test::appendStep(ModuleOp module, ArrayRef<StringRef> names) {
  auto getGraph = [&](StringRef name) {
    return module.lookupSymbol<func::FuncOp>(name);
  };
  OpBuilder b(module.getContext());
  Location loc = module.getLoc();
  b.setInsertionPointToEnd(module.getBody());
  ArrayRef<Type> types = getGraph(names.front()).getArgumentTypes();
  auto step =
      func::FuncOp::create(b, loc, "step", b.getFunctionType(types, {}));
  b.setInsertionPointToStart(step.addEntryBlock());
  SmallVector<Value> returned;
  for (StringRef name : names) {
    func::FuncOp graph = getGraph(name);
    auto call = func::CallOp::create(b, loc, graph, step.getArguments());
    llvm::append_range(returned, call.getResults());
    graph.setPrivate();
  }
  func::ReturnOp::create(b, loc, returned);
  step.setFunctionType(
      b.getFunctionType(types, ValueRange(returned).getTypes()));
  for (unsigned i = 0, e = types.size(); i != e; ++i) {
    step.setArgAttr(i, AMPDialect::kRoleAttr, b.getStringAttr("batch"));
    step.setArgAttr(i, AMPDialect::kNameAttr, b.getStringAttr("a" + Twine(i)));
  }
  for (unsigned i = 0, e = returned.size(); i != e; ++i)
    step.setResultAttr(i, AMPDialect::kPredictionAttr,
                       b.getStringAttr("r" + Twine(i)));
}
