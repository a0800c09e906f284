//===- RandomGraph.h - Random training graphs -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random modules for tests of precision passes. A seed gives the same module on
// every machine.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_LIB_RANDOMGRAPH_H
#define AMP_TEST_LIB_RANDOMGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::amp::test {

/// The contents of a random module.
struct RandomGraphOptions {
  uint64_t seed = 0;
  /// The approximate number of operations of its main function.
  unsigned size = 30;
  /// scf.if, scf.for, scf.while and scf.forall that carry values, nested.
  bool controlFlow = true;
  /// Private functions that the main one and each other call.
  bool calls = true;
  /// `amp.precision` on operations, regions and functions.
  bool pins = true;
  /// Operations that no dialect registers, and values that precision passes
  /// must not touch: unranked tensors, memrefs, vectors, complex, f64, f80,
  /// fp8 and quantised types.
  bool foreign = true;
  /// Casts of the user, and operations on low types in the input.
  bool lowInput = true;
  /// The first dimension of activations is `?`.
  bool dynamic = true;
  /// The module can run. It has static shapes, known trip counts, and
  /// operations for which `TestErrorBound.cpp` has a rule. Excludes `foreign`
  /// and `dynamic`.
  bool executable = false;
};

/// The dialects that random modules need.
void registerRandomGraphDialects(DialectRegistry &registry);

/// Makes a module with a public function `@name`.
OwningOpRef<ModuleOp> makeRandomGraph(MLIRContext *context,
                                      const RandomGraphOptions &options,
                                      StringRef name = "main");

/// Appends a step that calls all of the named functions, which are executable
/// graphs of `module`, on the same arguments, and returns all that they return.
/// The functions become private.
void appendStep(ModuleOp module, ArrayRef<StringRef> names);

} // namespace mlir::amp::test

#endif // AMP_TEST_LIB_RANDOMGRAPH_H
