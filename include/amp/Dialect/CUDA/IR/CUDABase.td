//===- CUDABase.td - Types, enums and classes of operations *- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDABASE_TD
#define AMP_DIALECT_CUDA_IR_CUDABASE_TD

include "amp/Dialect/CUDA/IR/CUDADialect.td"
include "amp/Dialect/CUDA/IR/CUDAInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

//===----------------------------------------------------------------------===//
// Types and enums
//===----------------------------------------------------------------------===//

def CUDA_Element : AnyTypeOf<[F8E4M3FN, F8E5M2, F16, BF16, F32, F64, I1, I8, I32, I64]>;
def CUDA_Tensor : StaticShapeTensorOf<[CUDA_Element]>;
def CUDA_Buffer : StaticShapeMemRefOf<[CUDA_Element]>;
def CUDA_TensorOrBuffer : AnyTypeOf<[CUDA_Tensor, CUDA_Buffer]>;
def CUDA_Flag : AnyTypeOf<[0DTensorOf<[I1]>, MemRefRankOf<[I1], [0]>]>;

def CUDA_InitAttr
    : Attr<CPred<"::llvm::isa<::mlir::amp::InitAttr>($_self)">, "#amp.init"> {
  let storageType = "::mlir::amp::InitAttr";
  let returnType = "::mlir::amp::InitAttr";
  let convertFromStorage = "$_self";
}

class CUDA_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::cuda";
  let genSpecializedAttr = 0;
}

def CUDA_ActivationEnum
    : CUDA_Enum<"Activation", "The activation of a product", [
        I32EnumAttrCase<"None", 0, "none">,
        I32EnumAttrCase<"Relu", 1, "relu">,
        I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">,
        I32EnumAttrCase<"ReluGrad", 3, "relu_grad">,
        I32EnumAttrCase<"GeluTanhGrad", 4, "gelu_tanh_grad">]>;
def CUDA_Activation : EnumAttr<CUDA_Dialect, CUDA_ActivationEnum, "activation"> {
  let assemblyFormat = "`<` $value `>`";
}

def CUDA_ConvKindEnum : CUDA_Enum<"ConvKind", "A convolution or one of its gradients", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"InputGrad", 1, "input_grad">,
    I32EnumAttrCase<"FilterGrad", 2, "filter_grad">]>;
def CUDA_ConvKind : EnumAttr<CUDA_Dialect, CUDA_ConvKindEnum, "conv"> {
  let assemblyFormat = "`<` $value `>`";
}

// An attribute of the amp dialect, whose definition is not included here.
def CUDA_ScalerAttr
    : Attr<CPred<"::llvm::isa<::mlir::amp::ScalerAttr>($_self)">,
           "the rules of the scale as #amp.scaler"> {
  let storageType = "::mlir::amp::ScalerAttr";
  let returnType = "::mlir::amp::ScalerAttr";
  let convertFromStorage = "$_self";
  let constBuilderCall = "$_builder.getAttr<::mlir::amp::ScalerAttr>($0)";
}

def CUDA_CombineEnum : CUDA_Enum<"Combine", "How a reduction combines two values", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
    I32EnumAttrCase<"Maximum", 2, "maximum">,
    I32EnumAttrCase<"Minimum", 3, "minimum">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">,
    I32EnumAttrCase<"Statistics", 6, "statistics">]>;
def CUDA_Combine : EnumAttr<CUDA_Dialect, CUDA_CombineEnum, "combine"> {
  let assemblyFormat = "`<` $value `>`";
}

def CUDA_ReaderEnum : CUDA_Enum<"Reader", "The results that alone need a launch", [
    I32EnumAttrCase<"Metrics", 1, "metrics">,
    I32EnumAttrCase<"Predictions", 2, "predictions">]>;
def CUDA_ReaderAttr : EnumAttr<CUDA_Dialect, CUDA_ReaderEnum, "reader"> {
  let assemblyFormat = "`<` $value `>`";
}

def CUDA_JudgeEnum : CUDA_Enum<"Judge", "The loss that judges a prediction", [
    I32EnumAttrCase<"CrossEntropy", 0, "cross_entropy">,
    I32EnumAttrCase<"MSE", 1, "mse">, I32EnumAttrCase<"L1", 2, "l1">]>;
def CUDA_EvaluationAttr : AttrDef<CUDA_Dialect, "Evaluation"> {
  let mnemonic = "evaluation";
  let summary = "how a prediction is judged";
  let description = [{
    Judges a prediction by a batch argument: `cross_entropy` (with the
    accuracy), `mse` or `l1`.

    Example: `#cuda.evaluation<cross_entropy of "logits" by "labels">`.
  }];
  let parameters = (ins EnumParameter<CUDA_JudgeEnum>:$judge,
                        StringRefParameter<"of a prediction">:$prediction,
                        StringRefParameter<"of a batch argument">:$target);
  let assemblyFormat = "`<` $judge `of` $prediction `by` $target `>`";
}

def CUDA_StateAttr : AttrDef<CUDA_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "identity of a step, which its checkpoints must match";
  let description = [{
    The precision (`""` for a step that runs as written), a hash of the step
    before any pass, and the loss-scaling rules, each as `name = value`. A
    checkpoint holds the same facts of the run that wrote it.

    Example: `#cuda.state<precision = "fp16", fingerprint = 17, scaler = ["scaler = amp.update_scale"]>`.
  }];
  let parameters = (ins StringRefParameter<"`f32`, `tf32`, `fp16`, `bf16` or nothing">:$precision,
                        "uint64_t":$fingerprint, "ArrayAttr":$scaler);
  let assemblyFormat = [{
    `<` `precision` `=` $precision `,` `fingerprint` `=` $fingerprint `,` `scaler` `=` $scaler `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the rules of loss scaling as text, a line each.
    std::string getScalerText() const;
  }];
}

def CUDA_BlockScalesAttr : AttrDef<CUDA_Dialect, "BlockScales"> {
  let mnemonic = "block_scales";
  let summary = "scales that follow from the magnitudes of blocks of the same matrix";
  let description = [{
    The launch that writes codes finds the largest magnitude of each block and its
    scale, by the rule of `amp.scale_from_amax` with `margin`, `epsilon`,
    `powerOfTwo` and `ignoreNonFinite`. `payload` and `transposed` have the rows and
    columns of the blocks of the matrix for each order of the codes. The blocks of an
    operand are 32 or 128 elements of a row, 128 x 128 elements or, in an operand that
    is written alone, rows.

    Example: `#cuda.block_scales<payload = [1, 128], transposed = [128, 1], powerOfTwo = true>`.
  }];
  let parameters = (ins OptionalParameter<"::mlir::DenseI64ArrayAttr">:$payload,
      OptionalParameter<"::mlir::DenseI64ArrayAttr">:$transposed,
      DefaultValuedParameter<"int32_t", "0">:$margin,
      OptionalParameter<"::mlir::FloatAttr">:$epsilon,
      DefaultValuedParameter<"bool", "false">:$powerOfTwo,
      DefaultValuedParameter<"bool", "false">:$ignoreNonFinite);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def CUDA_QuantizationAttr : AttrDef<CUDA_Dialect, "Quantization"> {
  let mnemonic = "quantization";
  let summary = "the 8-bit copies of a matrix and its magnitude";
  let description = [{
    Describes the 8-bit copies that a launch writes of a matrix of `rows` x
    `columns` elements, as `cuda.quantize` does. Their targets follow the other
    targets of the launch, in this order:

    | parameter | target |
    |---|---|
    | `payload` | the codes, [rows, columns], padded to multiples of 16 |
    | `transposed` | the codes of the transposed matrix, [columns, rows] |
    | `payload` or `transposed` | 1 / scale (f32 scalar) |
    | `amax` | the largest magnitude (f32 scalar) |

    Codes have the type `format`. A launch that writes codes takes their scale, an
    f32 scalar, as its last input. Without codes, there is neither a scale nor a
    format.

    With `blocks`, the launch takes no scale and has no `amax`. The codes are padded
    as those of `cuda.quantize` with blocks, and the factors of each order follow
    instead of 1 / scale.

    Example: `#cuda.quantization<rows = 30, columns = 64, format = f8E4M3FN, payload = true, amax = true>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
      OptionalParameter<"::mlir::Type">:$format,
      DefaultValuedParameter<"bool", "false">:$payload,
      DefaultValuedParameter<"bool", "false">:$transposed,
      DefaultValuedParameter<"bool", "false">:$amax,
      DefaultValuedParameter<"bool", "false">:$saturate,
      DefaultValuedParameter<"bool", "false">:$keepNonFinite,
      OptionalParameter<"::mlir::cuda::BlockScalesAttr">:$blocks);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasCodes() const { return getPayload() || getTransposed(); }
    /// Whether the launch takes the scale of its codes.
    bool takesScale() const { return hasCodes() && !getBlocks(); }
    /// Returns the type of each target, in order.
    ::llvm::SmallVector<::mlir::RankedTensorType> getTypes() const;
    /// Returns the index of the target among the targets of the copies, or
    /// nothing if the launch has no such target.
    ::std::optional<unsigned> getPayloadTarget() const;
    ::std::optional<unsigned> getTransposedTarget() const;
    /// 1 / scale or, with blocks, the factors of the payload.
    ::std::optional<unsigned> getInverseTarget() const;
    /// The factors of the transposed codes, with blocks.
    ::std::optional<unsigned> getTransposedFactorsTarget() const;
    ::std::optional<unsigned> getAmaxTarget() const;
    /// Returns the suffix that is appended to the name of the launch to name a
    /// target.
    ::llvm::StringRef getTargetSuffix(unsigned target) const;
  }];
}

def CUDA_QuantizedParameterAttr : AttrDef<CUDA_Dialect, "QuantizedParameter"> {
  let mnemonic = "quantized_parameter";
  let summary = "the 8-bit copies of a parameter that an optimizer writes";
  let description = [{
    Describes the copies of the new parameter `index` as `quantization`, with
    codes of f8E4M3FN and without blocks. `source` is the type of the values that
    are quantised: that of the stored parameter or, for an f32 parameter, also a
    type of 16 bits to which the launch rounds it first. The `source` of a split
    parameter is bf16, its upper half.

    Example: `#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 64, columns = 32, format = f8E4M3FN, payload = true, amax = true>>`.
  }];
  let parameters = (ins "int64_t":$index, "::mlir::Type":$source,
      "::mlir::cuda::QuantizationAttr":$quantization);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CUDA_OptimizerKindEnum : CUDA_Enum<"OptimizerKind", "The rule of an optimizer", [
    I32EnumAttrCase<"SGD", 0, "sgd">, I32EnumAttrCase<"Adam", 1, "adam">,
    I32EnumAttrCase<"AdamW", 2, "adamw">]>;
def CUDA_OptimizerKind : EnumAttr<CUDA_Dialect, CUDA_OptimizerKindEnum, "optimizer"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class CUDA_Op<string mnemonic, list<Trait> traits = []>
    : Op<CUDA_Dialect, mnemonic, traits>;

// A launch. Its syntax is the mnemonic, `syntax`, and the operands that all
// launches have. `methods` are the interface methods that it overrides.
class CUDA_LaunchOp<string mnemonic, string syntax = "", list<Trait> traits = [],
                    list<string> methods = []>
    : CUDA_Op<mnemonic, [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<CUDA_LaunchOpInterface, methods>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>] # traits> {
  dag operands = (ins OptionalAttr<StrAttr>:$name,
      Variadic<CUDA_TensorOrBuffer>:$inputs, Variadic<CUDA_Buffer>:$outputs,
      Variadic<CUDA_Buffer>:$scratch, Optional<CUDA_Flag>:$predicate);
  let results = (outs Variadic<CUDA_Tensor>:$results);
  let assemblyFormat = syntax # [{
    (`named` $name^)?
    `ins` `(` ($inputs^ `:` type($inputs))? `)`
    (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    (`if` $predicate^ `:` type($predicate))? attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    void $cppClass::getEffects(::llvm::SmallVectorImpl<
        ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      ::mlir::cuda::getLaunchEffects(*this, effects);
    }
  }];
}

def CUDA_HeadsAttr : AttrDef<CUDA_Dialect, "Heads"> {
  let mnemonic = "heads";
  let summary = "where the heads of an attention, or rows, are in a tensor";
  let description = [{
    The element at which the first head begins, and the strides of samples,
    heads and positions, all in elements. The elements of a head at one position
    are contiguous. The rows of a norm are heads too.

    Example: in the product of 2 samples of 64 tokens and 3 x 4 heads of 16, the
    keys are `#cuda.heads<at 64 by 12288, 16, 192>`.
  }];
  let parameters = (ins "int64_t":$offset, "int64_t":$sample, "int64_t":$head,
                        "int64_t":$position);
  let assemblyFormat = "`<` `at` $offset `by` $sample `,` $head `,` $position `>`";
}

// A tuned kernel of the runtime headers. It has one input and one output per
// name, in that order. None of them is empty. An input named `addend` exists if
// the launch has the attribute `accumulate`.
def CUDA_TunedKernel : NativeOpTrait<"TunedKernel"> {
  let cppNamespace = "::mlir::cuda";
}
class CUDA_TunedOp<string mnemonic, list<string> inputNames,
                   list<string> targetNames, list<string> methods = [],
                   code declarations = "">
    : CUDA_LaunchOp<mnemonic, "", [CUDA_TunedKernel], methods> {
  let extraClassDeclaration = [{
    static ::llvm::ArrayRef<::llvm::StringLiteral> getInputNames() {
      static constexpr ::llvm::StringLiteral names[] = {"}] #
      !interleave(inputNames, "\", \"") # [{"};
      return names;
    }
    static ::llvm::ArrayRef<::llvm::StringLiteral> getTargetNames() {
      static constexpr ::llvm::StringLiteral names[] = {"}] #
      !interleave(targetNames, "\", \"") # [{"};
      return names;
    }
  }] # declarations;
}

// A tuned kernel of a backward pass.
class CUDA_TunedGradOp<string mnemonic, list<string> inputNames,
                       list<string> targetNames, list<string> methods = []>
    : CUDA_TunedOp<mnemonic, inputNames, targetNames, methods, [{
        bool isBackward() { return true; }
      }]>;

#endif // AMP_DIALECT_CUDA_IR_CUDABASE_TD
