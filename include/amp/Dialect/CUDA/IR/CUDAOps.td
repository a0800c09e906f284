//===- CUDAOps.td - Programs, buffers and launches ---------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAOPS_TD
#define AMP_DIALECT_CUDA_IR_CUDAOPS_TD

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

def CUDA_Element : AnyTypeOf<[F16, BF16, F32, F64, I1, I8, I32, I64]>;
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
    : CUDA_Enum<"Activation", "What a product does with its sum", [
        I32EnumAttrCase<"None", 0, "none">,
        I32EnumAttrCase<"Relu", 1, "relu">,
        I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">,
        I32EnumAttrCase<"ReluGrad", 3, "relu_grad">,
        I32EnumAttrCase<"GeluTanhGrad", 4, "gelu_tanh_grad">]>;
def CUDA_Activation : EnumAttr<CUDA_Dialect, CUDA_ActivationEnum, "activation"> {
  let assemblyFormat = "`<` $value `>`";
}

def CUDA_ConvKindEnum : CUDA_Enum<"ConvKind", "What is computed of a convolution", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"InputGrad", 1, "input_grad">,
    I32EnumAttrCase<"FilterGrad", 2, "filter_grad">]>;
def CUDA_ConvKind : EnumAttr<CUDA_Dialect, CUDA_ConvKindEnum, "conv"> {
  let assemblyFormat = "`<` $value `>`";
}

def CUDA_CombineEnum : CUDA_Enum<"Combine", "How a reduction combines two values", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
    I32EnumAttrCase<"Maximum", 2, "maximum">,
    I32EnumAttrCase<"Minimum", 3, "minimum">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]>;
def CUDA_Combine : EnumAttr<CUDA_Dialect, CUDA_CombineEnum, "combine"> {
  let assemblyFormat = "`<` $value `>`";
}

def CUDA_JudgeEnum : CUDA_Enum<"Judge", "The loss that judges a prediction", [
    I32EnumAttrCase<"CrossEntropy", 0, "cross_entropy">,
    I32EnumAttrCase<"MSE", 1, "mse">, I32EnumAttrCase<"L1", 2, "l1">]>;
def CUDA_EvaluationAttr : AttrDef<CUDA_Dialect, "Evaluation"> {
  let mnemonic = "evaluation";
  let summary = "how a prediction is judged";
  let description = [{
    `cross_entropy` (with the accuracy), `mse` or `l1` of the prediction and the
    batch argument of these names.

    Example: `#cuda.evaluation<cross_entropy of "logits" by "labels">`.
  }];
  let parameters = (ins EnumParameter<CUDA_JudgeEnum>:$judge,
                        StringRefParameter<"of a prediction">:$prediction,
                        StringRefParameter<"of a batch argument">:$target);
  let assemblyFormat = "`<` $judge `of` $prediction `by` $target `>`";
}

def CUDA_StateAttr : AttrDef<CUDA_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "what a saved state must have been saved by";
  let description = [{
    The precision (`""` for a step that was taken as it is), a hash of the step
    before any pass, and the rules by which the loss is scaled, `name = value`
    each: what a state file says of the run that wrote it.

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

def CUDA_OptimizerKindEnum : CUDA_Enum<"OptimizerKind", "The rule of an optimizer", [
    I32EnumAttrCase<"SGD", 0, "sgd">, I32EnumAttrCase<"Adam", 1, "adam">,
    I32EnumAttrCase<"AdamW", 2, "adamw">]>;
def CUDA_OptimizerKind : EnumAttr<CUDA_Dialect, CUDA_OptimizerKindEnum, "optimizer"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Programs and buffers
//===----------------------------------------------------------------------===//

class CUDA_Op<string mnemonic, list<Trait> traits = []>
    : Op<CUDA_Dialect, mnemonic, traits>;

def CUDA_ProgramOp : CUDA_Op<"program", [
    IsolatedFromAbove, NoTerminator, NoRegionArguments, SingleBlock, Symbol]> {
  let summary = "one training step";
  let description = [{
    Buffers, then launches in the order in which they run. `arena` is the size
    of the memory that holds all buffers; `bound`, for the record, the most
    bytes that are in use at one time, below which no plan can go.

    A program with `inference_of` is the forward function of another one, which
    stands beside it: with its parameters, a trainer makes predictions for
    held-out data, and judges them as `evaluation` says.

    `state` says what the states are of that the program saves and resumes. One
    without it compares nothing but their names and types, and what it saves is
    for such programs alone: take it away where the launches were edited into
    those of another step.

    Example:

    ```mlir
    cuda.program @twice arena 512 {
      %x = cuda.buffer "x" at 0 {role = "batch"} : memref<8xf32>
      %y = cuda.buffer "y" at 256 {role = "prediction"} : memref<8xf32>
      cuda.kernel named "add" over [8]
          maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
      ^bb0(%a: f32):
        %0 = arith.addf %a, %a : f32
        cuda.yield %0 : f32
      } ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$arena,
                       OptionalAttr<I64Attr>:$bound,
                       OptionalAttr<FlatSymbolRefAttr>:$inference_of,
                       OptionalAttr<TypedArrayAttrBase<CUDA_EvaluationAttr,
                           "rules of evaluation">>:$evaluation,
                       OptionalAttr<CUDA_StateAttr>:$state);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `arena` $arena (`bound` $bound^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_BufferOp : CUDA_Op<"buffer", [
    HasParent<"ProgramOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a range of the arena";
  let description = [{
    `role` is that of `amp.role`, or one of these: `metric` and `prediction`, known
    by `name` outside as the others are; `constant`, the elements of `value`,
    which nothing writes; `tickets`, zeros with which reductions count their
    blocks; `table`, the tensors of an optimizer; `workspace`, scratch memory of
    the library. Buffers with a role keep their contents from one step to the
    next. A buffer without one holds an intermediate value: like a metric or a
    prediction, it is read by launches behind one that writes it. What a launch with a
    predicate writes is there for those with the same one; some launch writes each metric
    and prediction always. The elements of a batch
    argument with an `index_bound` are labels or indices, from 0 to below that: who
    fills the buffer is to check them.

    Example:

    ```mlir
    %w = cuda.buffer "fc1.weight" at 512 {role = "parameter", init = #amp.init<kaiming_uniform>}
        : memref<64x128xf32>
    %y = cuda.buffer "labels" at 33024 {index_bound = 10 : i64, role = "batch"} : memref<32xi64>
    %t = cuda.buffer "steps" at 33280 {role = "constant", value = dense<[1, 2, 4]> : tensor<3xi32>}
        : memref<3xi32>
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$offset,
                       OptionalAttr<StrAttr>:$role, OptionalAttr<CUDA_InitAttr>:$init,
                       OptionalAttr<ElementsAttr>:$value,
                       OptionalAttr<I64Attr>:$index_bound);
  let results = (outs CUDA_Buffer:$buffer);
  let assemblyFormat = "$name `at` $offset attr-dict `:` type($buffer)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the number of bytes that the buffer holds.
    int64_t getBytes();
    /// Whether the buffer holds the elements of `value`.
    bool isConstant() { return getRole() == "constant"; }
  }];
}

def CUDA_ViewOp : CUDA_Op<"view", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the same elements in another shape";
  let description = [{
    Example:

    ```mlir
    %1 = cuda.view %0 : tensor<32x64xf32> to tensor<32x8x8x1xf32>
    ```
  }];
  let arguments = (ins CUDA_TensorOrBuffer:$source);
  let results = (outs CUDA_TensorOrBuffer:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

// A launch, whose syntax is the mnemonic, `syntax`, and the operands that all of
// them have.
class CUDA_LaunchOp<string mnemonic, string syntax = "", list<Trait> traits = []>
    : CUDA_Op<mnemonic, traits # [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<CUDA_LaunchOpInterface, ["mayAlias", "getFlops"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
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
}

def CUDA_GemmOp : CUDA_LaunchOp<"gemm"> {
  let summary = "a matrix product, with what the library does on the way out";
  let description = [{
    D = activation(alpha · A · B + C + bias), over row-major matrices [M, K] ×
    [K, N] with the same leading (batch) dimensions; `alpha` is 1 where it is not
    given. A is stored as [K, M] with `transpose_a`, B as [N, K] with
    `transpose_b`. Sums are f32; with `tf32`, operands in f32 are rounded to TF32
    first.

    Inputs, in order:

    | input | where |
    |---|---|
    | A, B | always; of one type |
    | C, of the type and shape of D | with `accumulate` |
    | the bias, [N], of the type of D | with `bias` |
    | the auxiliary matrix | with `relu_grad` and `gelu_tanh_grad` |

    Outputs, in order:

    | output | where |
    |---|---|
    | D, of the type of A or f32 | always |
    | the auxiliary matrix | with `auxiliary`, for `relu` and `gelu_tanh` |
    | a bias gradient, [N], of the type of D | with `bias_grad` |

    The auxiliary matrix is what a gradient needs of its forward product: for
    relu one bit per element of D, [M, ceil(N / 128) · 16] bytes (i8), for gelu
    the sum before it, of the type of D. The bias gradient is the sum over the
    rows: of B where there is no activation (there K is the number of rows), else
    of D. Neither can be had with batch dimensions.

    Example:

    ```mlir
    %h, %mask = cuda.gemm ins(%x, %w, %b : tensor<32x64xf16>, tensor<64x128xf16>, tensor<128xf16>)
        {activation = #cuda.activation<relu>, auxiliary, bias} -> tensor<32x128xf16>, tensor<32x16xi8>
    ```
  }];
  let arguments = !con(operands, (ins
      OptionalAttr<F32Attr>:$alpha, UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$tf32,
      UnitAttr:$accumulate, UnitAttr:$bias, UnitAttr:$auxiliary,
      UnitAttr:$bias_grad,
      DefaultValuedAttr<CUDA_Activation, "::mlir::cuda::Activation::None">:$activation));
  let extraClassDeclaration = [{
    /// Extents of the product; `batch` counts the leading dimensions.
    struct Extents {
      int64_t batch, m, n, k;
    };
    Extents getExtents();
    /// The factor of the product.
    ::llvm::APFloat getScale() {
      return getAlpha().value_or(::llvm::APFloat(1.0f));
    }
    ::mlir::Value getA() { return getInputs()[0]; }
    ::mlir::Value getB() { return getInputs()[1]; }
    /// These return null where there is none.
    ::mlir::Value getC();
    ::mlir::Value getBiasVector();
    ::mlir::Value getAuxiliaryInput();
    /// Whether the activation is the gradient of one.
    bool isGradient();
    /// The shape of the bit mask of a relu whose result has shape `shape`.
    static ::llvm::SmallVector<int64_t> getMaskShape(::llvm::ArrayRef<int64_t> shape);
    bool isProduct() { return true; }
  }];
}

def CUDA_ConvOp : CUDA_LaunchOp<"conv", "$kind"> {
  let summary = "a convolution or a gradient of one";
  let description = [{
    As `train.conv2d`, `train.conv2d_input_grad` and `train.conv2d_filter_grad`:
    inputs, filters and results in the layouts and with the attributes of these.
    Computed as products over patches that are gathered into scratch memory.

    With one group, the product takes what it takes in `cuda.gemm`: a forward
    convolution a `bias` ([F], of the type of the result, behind the filter) and
    `relu`, with `auxiliary` its bit mask as a second result, of the shape of the
    first with ceil(F / 128) · 16 bytes for each pixel; a filter gradient
    `bias_grad`, the sum of the output's gradient over its pixels ([F], of the
    type of the result), as a second result. The product of an input gradient
    makes the gradients of patches, whose sum comes later, so it takes none.

    Example:

    ```mlir
    %y = cuda.conv <forward> ins(%x, %w, %b : tensor<32x8x8x1xf16>, tensor<3x3x1x16xf16>, tensor<16xf16>)
        {activation = #cuda.activation<relu>, bias, padding = array<i64: 1, 1, 1, 1>} -> tensor<32x8x8x16xf16>
    ```
  }];
  let arguments = !con((ins CUDA_ConvKind:$kind), operands, (ins
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
      DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$padding,
      DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
      DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$tf32,
      UnitAttr:$bias, UnitAttr:$auxiliary, UnitAttr:$bias_grad,
      DefaultValuedAttr<CUDA_Activation, "::mlir::cuda::Activation::None">:$activation));
  let extraClassDeclaration = [{
    ::mlir::Value getBiasVector() { return getBias() ? getInputs()[2] : ::mlir::Value(); }
    /// The types of input, filter and result of the forward convolution.
    struct Types {
      ::mlir::ShapedType input, filter, output;
    };
    Types getForwardTypes();
    bool isProduct() { return true; }
    int64_t getScratchBytes();
  }];
}

def CUDA_KernelOp : CUDA_LaunchOp<"kernel", "", [IsolatedFromAbove]> {
  let summary = "a generated kernel: a scalar body over a space of loops";
  let description = [{
    `over` gives the extents of the loops; `maps` has one map per input that is
    read element by element and one per output. Inputs beyond those are captured:
    the body is given the whole and reads from it what it wants, with
    `tensor.extract` or `memref.load`. `cuda.index` is the position in a loop.

    Without `reduce`, the loops are the dimensions of the outputs, in order, and
    the body yields one value per output.

    With `reduce`, there is one output; the values that the body yields are
    combined over the loops that it lists, in their type, and the other loops
    are the dimensions of the output, in order. They are f32 with any of `add`,
    `mul`, `maximum` and `minimum`, f64, i32 or i64 with `add` and `mul`, whose
    overflow wraps, or i1 with `and` and `or`. So `add` of i1, which keeps one
    bit, is whether an odd number of them is true, and `mul` is `and`. `finish`, a second region,
    turns a combined value into the one that is stored; without it, it is stored
    as it is.

    Values are stored in the element type of the output, floats rounded to
    nearest even.

    Example:

    ```mlir
    %mean = cuda.kernel over [32, 10]
        maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]
        reduce [1] with <add> {
    ^bb0(%a: f32):
      cuda.yield %a : f32
    } finish {
    ^bb0(%sum: f32):
      %n = arith.constant 1.0e+01 : f32
      %0 = arith.divf %sum, %n : f32
      cuda.yield %0 : f32
    } ins(%x : tensor<32x10xf32>) -> tensor<32xf32>
    ```
  }];
  let arguments = !con(operands, (ins
      DenseI64ArrayAttr:$extents, AffineMapArrayAttr:$maps,
      OptionalAttr<DenseI64ArrayAttr>:$reduced,
      OptionalAttr<CUDA_Combine>:$combine));
  let regions = (region SizedRegion<1>:$body, AnyRegion:$finish);
  let assemblyFormat = [{
    (`named` $name^)? `over` custom<Integers>($extents) `maps` $maps
    (`reduce` custom<Integers>($reduced)^ `with` $combine)?
    $body (`finish` $finish^)? `ins` `(` ($inputs^ `:` type($inputs))? `)`
    (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)?
    (`if` $predicate^ `:` type($predicate))? attr-dict (`->` type($results)^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of inputs that are read element by element.
    unsigned getNumElementInputs() {
      return getMaps().size() - (getOutputs().size() + getResults().size());
    }
    ::mlir::AffineMap getMap(unsigned index) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[index]).getValue();
    }
    /// The map of output `index`.
    ::mlir::AffineMap getTargetMap(unsigned index) {
      return getMap(getNumElementInputs() + index);
    }
    bool isReduction() { return getReduced().has_value(); }
    bool isReducedLoop(int64_t loop);
    /// The number of elements of an output, and of values combined for each.
    int64_t getNumOutputElements();
    int64_t getNumReducedElements();
    /// Whether the kernel reads consecutive elements for consecutive outputs,
    /// while those that it combines for one output lie apart.
    bool isColumnReduction();
    int64_t getScratchBytes();
  }];
}

def CUDA_IndexOp : CUDA_Op<"index", [Pure]> {
  let summary = "the position in a loop of a kernel";
  let arguments = (ins I64Attr:$loop);
  let results = (outs Index:$result);
  let assemblyFormat = "$loop attr-dict";
  let hasVerifier = 1;
}

def CUDA_YieldOp : CUDA_Op<"yield", [
    Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "the values that a body computes";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def CUDA_CallOp : CUDA_LaunchOp<"call", "$callee"> {
  let summary = "a tuned kernel of the runtime headers";
  let description = [{
    `callee` is one of these. Each computes what the operation of that name of
    the `train` or `amp` dialect does, on its operands and with its attributes,
    which stand in `parameters`: `softmax`, `softmax_grad`, `log_softmax`,
    `log_softmax_grad`, `layer_norm`, `layer_norm_grad`, `batch_norm_training`,
    `batch_norm_inference`, `batch_norm_grad`, `cross_entropy`,
    `cross_entropy_grad`, `max_pool2d`, `max_pool2d_grad`, `avg_pool2d`,
    `avg_pool2d_grad`, `scatter_add`, `dropout`, `update_scale`. The last one
    works in place.
    `cross_entropy_with_grad` is `cross_entropy` and `cross_entropy_grad` of the
    same logits and labels; `stochastic_round` is `amp.master_copy` with a random
    state, f32 to bf16.

    Example:

    ```mlir
    %y = cuda.call "softmax" ins(%x : tensor<32x10xf32>) {parameters = {axis = 1 : i64}}
        -> tensor<32x10xf32>
    ```
  }];
  let arguments = !con((ins StrAttr:$callee), operands,
                       (ins DefaultValuedAttr<DictionaryAttr, "{}">:$parameters));
  let extraClassDeclaration = [{
    ::std::optional<unsigned> getTiedInput(unsigned target);
    int64_t getScratchBytes();
    int64_t getRereadBytes();
    /// Parameters, which the verifier has found to be there.
    int64_t getInteger(::llvm::StringRef parameter);
    double getFloat(::llvm::StringRef parameter);
    ::llvm::ArrayRef<int64_t> getIntegers(::llvm::StringRef parameter);
  }];
}

def CUDA_CheckGradientsOp : CUDA_LaunchOp<"check_gradients"> {
  let summary = "whether gradients are finite, and what to multiply them by";
  let description = [{
    Inputs: the gradients of one optimizer, then, with `scaled`, the loss scale.

    Outputs: the state that `cuda.optimizer` takes, 8 words, which holds 1 /
    scale, rounded once from f64, and the factor of clipping; whether every
    element of every gradient is finite (i1), with `strict` after the
    multiplication by 1 / scale as well as before it; and the Euclidean norm of
    the gradients times 1 / scale (f32). The factor of clipping is min(1,
    `max_norm` / (norm + 1e-6)), or 1 without `max_norm`.

    Example:

    ```mlir
    %state, %finite, %norm = cuda.check_gradients ins(%g0, %g1, %scale
        : tensor<8xf32>, tensor<4xf32>, tensor<f32>) {scaled}
        -> tensor<8xf32>, tensor<i1>, tensor<f32>
    ```
  }];
  let arguments = !con(operands,
                       (ins UnitAttr:$scaled, UnitAttr:$strict,
                            OptionalAttr<F64Attr>:$max_norm));
  let extraClassDeclaration = [{
    ::mlir::OperandRange getGradients() {
      return getInputs().drop_back(getScaled() ? 1 : 0);
    }
    int64_t getScratchBytes();
  }];
}

def CUDA_OptimizerOp : CUDA_LaunchOp<"optimizer", "$kind"> {
  let summary = "the update of all parameters of an optimizer in one launch";
  let description = [{
    As `train.sgd`, `train.adam` or `train.adamw` for N parameters at once, N
    being the number of elements of `weight_decay`.

    Inputs, in order: N parameters, N gradients, N of each state (the velocity,
    with `velocity`; the two moments of Adam), the learning rate, for Adam the
    step, with `multiplied` the state of a `cuda.check_gradients`, with whose
    factors gradients are multiplied first, and under a guard the old copies.

    Outputs, in order: N new parameters, N of each new state, and a copy in f16
    or bf16 of each parameter that `copies` lists. Parameters, states and, under
    a guard, copies are updated in place.

    Example:

    ```mlir
    %w1, %b1 = cuda.optimizer <sgd> ins(%w, %b, %gw, %gb, %lr
        : tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<f32>)
        {weight_decay = array<f64: 1.0e-4, 0.0>} -> tensor<8x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = !con((ins CUDA_OptimizerKind:$kind), operands, (ins
      DenseF64ArrayAttr:$weight_decay,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$copies,
      UnitAttr:$velocity, UnitAttr:$nesterov, UnitAttr:$multiplied,
      DefaultValuedAttr<F64Attr, "0.0">:$momentum,
      DefaultValuedAttr<F64Attr, "0.9">:$beta1,
      DefaultValuedAttr<F64Attr, "0.999">:$beta2,
      DefaultValuedAttr<F64Attr, "1.0e-8">:$epsilon));
  let extraClassDeclaration = [{
    unsigned getNumParameters() { return getWeightDecay().size(); }
    unsigned getNumStates();
    /// Inputs by what they are.
    ::mlir::OperandRange getParameters();
    ::mlir::OperandRange getGradients();
    ::mlir::OperandRange getState(unsigned index);
    ::mlir::Value getLearningRate();
    /// These return null where there is none.
    ::mlir::Value getStep();
    ::mlir::Value getMultiplier();
    ::mlir::OperandRange getOldCopies();
    ::std::optional<unsigned> getTiedInput(unsigned target);
  }];
}

def CUDA_CastsOp : CUDA_LaunchOp<"casts"> {
  let summary = "the conversion of several tensors in one launch";
  let description = [{
    Rounds each input, of f32, to the element type of the output at the same
    place, f16 or bf16, the same for all: the low-precision versions of all
    parameters in one launch.

    Example:

    ```mlir
    %0, %1 = cuda.casts ins(%w, %b : tensor<8x4xf32>, tensor<4xf32>)
        -> tensor<8x4xf16>, tensor<4xf16>
    ```
  }];
  let arguments = operands;
}

#endif // AMP_DIALECT_CUDA_IR_CUDAOPS_TD
