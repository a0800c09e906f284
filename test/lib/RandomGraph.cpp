//===- RandomGraph.cpp - Control flow and functions of random graphs ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraphGenerator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::test;

void mlir::amp::test::registerRandomGraphDialects(DialectRegistry &registry) {
  registry.insert<AMPDialect, arith::ArithDialect, func::FuncDialect,
                  quant::QuantDialect, scf::SCFDialect, tensor::TensorDialect,
                  train::TrainDialect>();
}

SmallVector<Value> RandomGraphGenerator::pickCarried() {
  SmallVector<Value> carried;
  for (unsigned i = 0, e = 1 + below(3); i < e; ++i)
    carried.push_back(!options.executable && chance(15)
                          ? scope[below(scope.size())]
                          : pickRank(0, 2));
  return carried;
}

SmallVector<Value> RandomGraphGenerator::pickLike(ValueRange fallback) {
  SmallVector<Value> values;
  for (Value value : fallback)
    values.push_back(pickType(value.getType()));
  return values;
}

void RandomGraphGenerator::addIf(unsigned depth) {
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

void RandomGraphGenerator::addFor(unsigned depth) {
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

void RandomGraphGenerator::addWhile(unsigned depth) {
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
void RandomGraphGenerator::addForall(unsigned depth) {
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

void RandomGraphGenerator::addRegion(unsigned depth) {
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

void RandomGraphGenerator::addCall() {
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

void RandomGraphGenerator::addOperation(unsigned depth) {
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

void RandomGraphGenerator::addFunction(StringRef functionName, unsigned size,
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

OwningOpRef<ModuleOp> RandomGraphGenerator::make() {
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
  return RandomGraphGenerator(context, options, name).make();
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
