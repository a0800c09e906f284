//===- ExamplePlugin.cpp - A plugin of another project --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

struct ExampleDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExampleDialect)
  explicit ExampleDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ExampleDialect>()) {
    allowUnknownOperations();
  }
  static StringRef getDialectNamespace() { return "example"; }
};

/// Writes into the module how many operations it holds.
struct CountPass : PassWrapper<CountPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountPass)
  CountPass() = default;
  CountPass(const CountPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "example-count"; }
  StringRef getDescription() const override { return "Count operations"; }
  void runOnOperation() override {
    int64_t count = 0;
    getOperation()->walk([&](Operation *op) {
      count +=
          prefix.empty() || op->getName().getStringRef().starts_with(prefix);
    });
    getOperation()->setAttr("example.count",
                            OpBuilder(&getContext()).getI64IntegerAttr(count));
  }

  Option<std::string> prefix{*this, "prefix",
                             llvm::cl::desc("Count only names that start so")};
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "Example", "1",
      [](DialectRegistry *registry) { registry->insert<ExampleDialect>(); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Example", "1",
          [] { PassRegistration<CountPass>(); }};
}
