//===- TestRandomGraph.cpp - Print random training graphs -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::amp::test;

namespace {

/// Appends random functions to a module: `@graph0`, `@graph1`, ... of seeds
/// that count up from `seed`. Executable ones get a `@step` that calls them
/// all.
struct TestMakeRandomGraph
    : PassWrapper<TestMakeRandomGraph, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestMakeRandomGraph)

  TestMakeRandomGraph() = default;
  TestMakeRandomGraph(const TestMakeRandomGraph &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-make-random-graph"; }
  StringRef getDescription() const override {
    return "append random training graphs";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerRandomGraphDialects(registry);
  }

  void runOnOperation() override {
    SmallVector<std::string> names;
    for (unsigned i = 0; i < count; ++i) {
      RandomGraphOptions options;
      options.seed = seed + i;
      options.size = size;
      options.controlFlow = controlFlow;
      options.calls = calls;
      options.pins = pins;
      options.foreign = foreign;
      options.lowInput = lowInput;
      options.dynamic = dynamic;
      options.executable = executable;
      std::string name = "graph" + std::to_string(i);
      OwningOpRef<ModuleOp> made =
          makeRandomGraph(&getContext(), options, name);
      Block *body = getOperation().getBody();
      body->getOperations().splice(body->end(),
                                   made->getBody()->getOperations());
      names.push_back(name);
    }
    if (executable)
      appendStep(getOperation(),
                 SmallVector<StringRef>(names.begin(), names.end()));
  }

  Option<uint64_t> seed{*this, "seed", llvm::cl::init(0),
                        llvm::cl::desc("Seed of the first graph")};
  Option<unsigned> count{*this, "count", llvm::cl::init(1),
                         llvm::cl::desc("How many graphs")};
  Option<unsigned> size{*this, "size", llvm::cl::init(30),
                        llvm::cl::desc("About how many operations each")};
  Option<bool> controlFlow{*this, "control-flow", llvm::cl::init(true)};
  Option<bool> calls{*this, "calls", llvm::cl::init(true)};
  Option<bool> pins{*this, "pins", llvm::cl::init(true)};
  Option<bool> foreign{*this, "foreign", llvm::cl::init(true)};
  Option<bool> lowInput{*this, "low-input", llvm::cl::init(true)};
  Option<bool> dynamic{*this, "dynamic", llvm::cl::init(true)};
  Option<bool> executable{*this, "executable", llvm::cl::init(false)};
};

} // namespace

namespace mlir::amp::test {
void registerRandomGraphTests() { PassRegistration<TestMakeRandomGraph>(); }
} // namespace mlir::amp::test
