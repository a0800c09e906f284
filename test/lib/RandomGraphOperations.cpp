//===- RandomGraphOperations.cpp - Operations of random graphs ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraphGenerator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::test;

void RandomGraphGenerator::addElementwise() {
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

void RandomGraphGenerator::addProduct() {
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

void RandomGraphGenerator::addShape() {
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

void RandomGraphGenerator::addReduction() {
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

void RandomGraphGenerator::addNormalization() {
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

void RandomGraphGenerator::addImage() {
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

void RandomGraphGenerator::addLoss() {
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

void RandomGraphGenerator::addLow() {
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

void RandomGraphGenerator::addForeign() {
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
