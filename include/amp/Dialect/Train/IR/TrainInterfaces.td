//===- TrainInterfaces.td - Interfaces of the train dialect -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAININTERFACES_TD
#define AMP_DIALECT_TRAIN_IR_TRAININTERFACES_TD

include "mlir/IR/OpBase.td"

def ShapeInferenceOpInterface : OpInterface<"ShapeInferenceOpInterface"> {
  let cppNamespace = "::mlir::train";
  let description = [{
    Computes the shapes of an operation's results from its operands and
    attributes. Verification, `train-set-batch` and the C++ builders use it.
  }];
  let methods = [
    InterfaceMethod<[{
        Appends one shape per result. A dimension that does not follow from the
        operands is copied from the result's type. Emits a diagnostic at the
        operation and returns failure if the operands do not fit together.
      }],
      "::llvm::LogicalResult", "inferResultShapes",
      (ins "::llvm::SmallVectorImpl<::llvm::SmallVector<int64_t>> &":$shapes)>,
  ];
  let verify = [{
    return ::mlir::train::verifyResultShapes($_op);
  }];
}

#endif // AMP_DIALECT_TRAIN_IR_TRAININTERFACES_TD
