//===- ToyOps.td - A dialect that AMP has never seen -------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOY_OPS_TD
#define TOY_OPS_TD

include "amp/Interfaces/GradientInterfaces.td"
include "amp/Interfaces/LossScaleOpInterface.td"
include "amp/Interfaces/PrecisionOpInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
  let useDefaultTypePrinterParser = 1;
}

// Its tensors are not builtin types.
def Toy_TensorType : TypeDef<Toy_Dialect, "ToyTensor", [ShapedTypeInterface]> {
  let mnemonic = "tensor";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool hasRank() const { return true; }
    ::mlir::ShapedType
    cloneWith(std::optional<::llvm::ArrayRef<int64_t>> shape,
              ::mlir::Type elementType) const {
      return ToyTensorType::get(getContext(), shape.value_or(getShape()),
                                elementType);
    }
  }];
}
def Toy_AnyTensor : AnyTypeOf<[Toy_TensorType, AnyRankedTensor]>;

class Toy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Toy_Dialect, mnemonic, traits>;

// The function and its end.
def Toy_FuncOp : Toy_Op<"func", [FunctionOpInterface, IsolatedFromAbove]> {
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
  let hasCustomAssemblyFormat = 1;
}
def Toy_ReturnOp : Toy_Op<"return", [Pure, Terminator, ReturnLike]> {
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

// Two operations describe themselves to the precision passes.
// What becomes of the loss scale is stated by those that it passes through.
def Toy_MatmulOp : Toy_Op<"matmul", [Pure,
    DeclareOpInterfaceMethods<LossScaleOpInterface>,
    DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionSlots"]>]> {
  let arguments = (ins Toy_TensorType:$lhs, Toy_TensorType:$rhs);
  let results = (outs Toy_TensorType:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Toy_LossGradOp : Toy_Op<"loss_grad", [Pure,
    DeclareOpInterfaceMethods<LossScaleOpInterface>,
    DeclareOpInterfaceMethods<PrecisionOpInterface, ["getPrecisionSlots"]>]> {
  let arguments = (ins Toy_TensorType:$prediction, Toy_TensorType:$target,
                       Toy_TensorType:$seed);
  let results = (outs Toy_TensorType:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// The others are left to a policy.
class Toy_PlainOp<string mnemonic, list<Trait> traits = []>
    : Toy_Op<mnemonic, !listconcat([Pure], traits)> {
  let arguments = (ins Variadic<Toy_TensorType>:$inputs);
  let results = (outs Toy_TensorType:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Toy_ReluOp : Toy_PlainOp<"relu">;
def Toy_ReluGradOp : Toy_PlainOp<"relu_grad", [
    DeclareOpInterfaceMethods<LossScaleOpInterface>]>;
def Toy_TransposeOp : Toy_PlainOp<"transpose">;
def Toy_LossOp : Toy_PlainOp<"loss">;

// Converts between element types, and between these tensors and builtin ones.
def Toy_ConvertOp : Toy_Op<"convert", [Pure,
    DeclareOpInterfaceMethods<LossScaleOpInterface>]> {
  let arguments = (ins Toy_AnyTensor:$input);
  let results = (outs Toy_AnyTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// The optimizer needs true gradients.
def Toy_DescendOp : Toy_Op<"descend", [Pure,
    DeclareOpInterfaceMethods<GradientConsumerOpInterface>]> {
  let arguments = (ins Toy_TensorType:$parameter, Toy_TensorType:$gradient);
  let results = (outs Toy_TensorType:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // TOY_OPS_TD
