//===- TestModelBuilder.cpp - Arguments that no layer can have ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a small step with the extents of the options, most of which are
// invalid for a layer, and prints whether the result is a module.
//
//===----------------------------------------------------------------------===//

#include "amp/Networks/ModelBuilder.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

struct TestModelBuilder
    : PassWrapper<TestModelBuilder, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestModelBuilder)

  TestModelBuilder() = default;
  TestModelBuilder(const TestModelBuilder &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-model-builder"; }
  StringRef getDescription() const override {
    return "build a small step with given extents";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<AMPDialect, func::FuncDialect, train::TrainDialect>();
  }

  void runOnOperation() override {
    using Scope = ModelBuilder::Scope;
    ModelBuilder b(&getContext());
    Value x = b.addBatch("x", {ModelBuilder::kBatch, 8, 8, 6}, b.getF32Type());
    Value labels = b.addBatch("labels", {ModelBuilder::kBatch},
                              b.getBuilder().getI64Type());
    {
      Scope scope(b, "conv");
      x = b.conv(x, filters, size, stride, padding, /*bias=*/false, groups);
    }
    {
      Scope scope(b, "pool");
      x = b.globalAveragePool(b.maxPool(x, poolSize, poolStride));
    }
    {
      Scope scope(b, "fc");
      x = b.linear(x, features);
    }
    {
      Scope scope(b, "attn");
      int64_t width = cast<RankedTensorType>(x.getType()).getDimSize(1);
      x = b.at().reshape(x, {ModelBuilder::kBatch, 1, width});
      x = b.attention(x, x, x, heads, /*causal=*/false);
      x = b.at().reshape(x, {ModelBuilder::kBatch, width});
    }
    if (rows != 1) {
      Scope scope(b, "table");
      b.addParameter("weight", {rows, 2}, b.getInit(InitKind::Zeros), false);
    }
    buildWrong(b, x);
    TrainingOptions training;
    training.decaySteps = 10;
    training.epsilon = epsilon;
    training.finalFraction = finalFraction;
    Value loss = b.crossEntropy(x, labels);
    for (unsigned i = 0; i < finishes; ++i) {
      OwningOpRef<ModuleOp> module = b.finish(loss, training);
      getOperation().emitRemark() << (module ? "a module" : "no module");
    }
  }

private:
  /// Calls the layer `wrong` with an invalid operand. `x` has two dimensions.
  void buildWrong(ModelBuilder &b, Value x) {
    using Scope = ModelBuilder::Scope;
    Scope scope(b, "wrong");
    Value scalar = b.at().scalar(1.0, x);
    if (wrong == "state")
      b.setState(x, x);
    else if (wrong == "linear")
      b.linear(scalar, 4);
    else if (wrong == "weight")
      b.tiedLinear(x, scalar);
    else if (wrong == "layer_norm")
      b.layerNorm(scalar, 1e-5);
    else if (wrong == "batch_norm")
      b.batchNorm(scalar);
    else if (wrong == "conv")
      b.conv(x, 4, 3, 1, 1);
    else if (wrong == "max_pool")
      b.maxPool(x, 2, 2);
    else if (wrong == "average_pool")
      b.globalAveragePool(x);
    else if (wrong == "embedding")
      b.embedding(scalar, x);
    else if (wrong == "attention")
      b.attention(x, x, x, 2, /*causal=*/true);
    else if (wrong == "slice")
      b.slice(x, 2, 0, 1);
    else if (wrong == "concat")
      b.concat({x, scalar}, 1);
    else if (wrong == "parts")
      b.concat({}, 0);
    else if (wrong == "accuracy")
      b.addAccuracy(scalar, Value());
  }

  Option<int64_t> filters{*this, "filters", llvm::cl::init(4)};
  Option<int64_t> size{*this, "size", llvm::cl::init(3)};
  Option<int64_t> stride{*this, "stride", llvm::cl::init(1)};
  Option<int64_t> padding{*this, "padding", llvm::cl::init(1)};
  Option<int64_t> groups{*this, "groups", llvm::cl::init(1)};
  Option<int64_t> poolSize{*this, "pool-size", llvm::cl::init(2)};
  Option<int64_t> poolStride{*this, "pool-stride", llvm::cl::init(2)};
  Option<int64_t> features{*this, "features", llvm::cl::init(6)};
  Option<int64_t> heads{*this, "heads", llvm::cl::init(2)};
  Option<int64_t> rows{*this, "rows", llvm::cl::init(1)};
  Option<double> epsilon{*this, "epsilon", llvm::cl::init(1e-8)};
  Option<double> finalFraction{*this, "final-fraction", llvm::cl::init(0.1)};
  Option<std::string> wrong{*this, "wrong", llvm::cl::init("")};
  Option<unsigned> finishes{*this, "finishes", llvm::cl::init(1)};
};

} // namespace

namespace mlir::amp::test {
void registerModelBuilderTest() { PassRegistration<TestModelBuilder>(); }
} // namespace mlir::amp::test
