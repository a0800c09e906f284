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
    The shapes of an operation's results as a function of its operands and
    attributes. Verification, `train-set-batch` and the C++ builders share it.
  }];
  let methods = [
    InterfaceMethod<[{
        Appends one shape per result; a dimension that does not follow from the
        operands is taken from the result's type. Returns failure, after a
        diagnostic at the operation, if the operands do not fit together.
      }],
      "::llvm::LogicalResult", "inferResultShapes",
      (ins "::llvm::SmallVectorImpl<::llvm::SmallVector<int64_t>> &":$shapes)>,
  ];
  let verify = [{
    return ::mlir::train::verifyResultShapes($_op);
  }];
}

#endif // AMP_DIALECT_TRAIN_IR_TRAININTERFACES_TD
