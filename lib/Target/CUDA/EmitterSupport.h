//===- EmitterSupport.h - Shared parts of the emitter -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TARGET_CUDA_EMITTERSUPPORT_H
#define AMP_LIB_TARGET_CUDA_EMITTERSUPPORT_H

#include "NumberPrinter.h"
#include "amp/Target/CUDA/CUDAEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::cuda {

/// Converts `name` to an identifier of C++. Other characters become
/// underscores.
std::string getIdentifier(StringRef name);

/// Creates unique identifiers.
class Identifiers {
public:
  std::string make(StringRef name);

private:
  llvm::StringSet<> taken;
};

/// The type of `value`, a tensor or a buffer.
inline ShapedType shapedType(Value value) {
  return cast<ShapedType>(value.getType());
}
/// The type of an element in memory: `__half`, `float`, `uint8_t` for i1.
StringRef getStorageType(Type type);
/// The type that kernels compute with: `float`, `bool` for i1.
StringRef getScalarType(Type type);
/// The enumerator of amp::cuda::Type: `F16`.
StringRef getTypeEnumerator(Type type);
/// The enumerator of amp::cuda::Float8 for an 8-bit float.
StringRef getFloat8Enumerator(Type type);
/// The enumerator of amp::cuda::Reader: `Reader::Metrics`.
StringRef getReaderSpelling(Reader reader);
/// `f32[64x128]`.
std::string describe(ShapedType type);
/// A literal of f32 or, with `isDouble`, of f64.
std::string getFloatLiteral(const APFloat &value, bool isDouble);

/// The last argument of a cross-entropy with `smoothing` of labels, after a
/// comma. Empty without smoothing, which is the default of the runtime.
std::string getSmoothing(const APFloat &smoothing);
/// `value` as a string literal.
std::string quote(StringRef value);
/// Makes `text`, which may contain any characters, safe inside a comment.
std::string getCommentText(StringRef text);
/// The file positions in `loc`: "model.mlir:12".
std::string describeLocation(Location loc);
/// Returns the names of the first `most` source operations of a launch, as
/// found in its locations, and "..." if there are more.
std::string describeOperations(Operation *op, size_t most = SIZE_MAX);
/// The maximum number of operations or values in a comment.
inline constexpr size_t kMostInComment = 6;

/// The loops of `kernel` in the order of its threads. The loops of the outputs
/// are last if consecutive threads take consecutive outputs.
SmallVector<unsigned> getLoopOrder(KernelOp kernel);
/// The position in loop `loop` at index `i` of the loops in `order`.
std::string getPosition(KernelOp kernel, ArrayRef<unsigned> order,
                        unsigned loop, NumberPrinter &numbers);
/// Whether element-wise input `index` is read a pack of elements at a time,
/// though at computed places: the last loop goes along its last dimension.
bool readsPacks(KernelOp kernel, ArrayRef<unsigned> order, unsigned index);
/// The expression that reads element-wise input `index`.
std::string getRead(KernelOp kernel, ArrayRef<unsigned> order, unsigned index,
                    NumberPrinter &numbers);

/// The number of elements that a thread of `kernel` takes at a time: the
/// narrowest operand fills 16 bytes.
int getWidth(KernelOp kernel);

/// A parameter of the function of a kernel.
struct KernelParameter {
  std::string type, name;
};

/// Returns the template argument for the format of codes.
std::string getCodeFormat(QuantizationAttr quantization);
/// Returns an initialiser of the QuantizeConfig of the runtime. `print` returns
/// the expression of an extent.
std::string getQuantizeConfig(QuantizationAttr quantization,
                              function_ref<std::string(int64_t)> print);
/// Returns an initialiser of the QuantizeResults of the runtime. `getPointer`
/// returns the expression of a target.
std::string getQuantizeResults(QuantizationAttr quantization,
                               function_ref<std::string(unsigned)> getPointer);

/// Returns an initialiser of the ScaleRule of the runtime.
std::string getScaleRule(QuantizationAttr quantization);
/// Returns an initialiser of the BlockResults of the runtime.
std::string getBlockResults(QuantizationAttr quantization,
                            function_ref<std::string(unsigned)> getPointer);
/// Returns the template arguments for the scales of the two orders of codes.
std::string getScaleKindArguments(QuantizationAttr quantization);

/// Prints the scalar operations of a block.
class ScalarEmitter {
public:
  /// Starts each line with `indent` spaces.
  ScalarEmitter(raw_ostream &os, unsigned indent, NumberPrinter &numbers)
      : os(os), indent(indent), numbers(numbers) {}

  void setName(Value value, std::string name) {
    names[value] = std::move(name);
  }
  /// Prints the operations of `block` that `values` need.
  LogicalResult emit(Block &block, ValueRange values);
  /// The expression for `value`.
  std::string get(Value value);

private:
  LogicalResult emit(Operation &op);
  /// The row-major offset of the element at `indices`. Empty for a scalar.
  std::string getOffset(ArrayRef<int64_t> shape, ArrayRef<std::string> indices);
  /// Returns the expression of a number.
  std::string getLiteral(arith::ConstantOp op);

  raw_ostream &os;
  unsigned indent;
  NumberPrinter &numbers;
  DenseMap<Value, std::string> names;
};

/// Whether the source of `program` has plans of cuDNN, also if only its forward
/// function has some.
bool usesPlans(ProgramOp program, const EmitterOptions &options);

/// Prints one program.
class ProgramEmitter {
public:
  ProgramEmitter(ProgramOp program, const EmitterOptions &options,
                 raw_ostream &os)
      : program(program), options(options), os(os), numbers(options.numbers) {}

  LogicalResult emit();
  /// Prints the program in a namespace, behind another one, with the rules that
  /// judge its predictions.
  LogicalResult emitForward();

private:
  void readProgram();
  LogicalResult verifyLaunches();
  LogicalResult emitParts();
  void emitBanner();
  bool isLossScale(BufferOp buffer);
  void emitPlan();
  /// Prints the elements of constants that are not a range.
  void emitConstants();
  void emitProducts();
  void emitConfiguration(GemmOp gemm);
  void emitConfiguration(ScaledGemmOp gemm);
  void emitConfiguration(ConvOp conv);
  void emitConfiguration(LinearCrossEntropyOp loss);
  /// Prints the descriptions of the plans of cuDNN and their table.
  void emitPlans();
  /// Prints the pointers of a plan.
  void emitPlanPointers(LaunchOpInterface launch);
  void emitPlanRun(LaunchOpInterface launch);
  /// Prints the tables of tensors.
  LogicalResult emitQuantizedTable(OptimizerOp optimizer);
  std::string getQuantizedTable(LaunchOpInterface launch);
  LogicalResult emitOptimizers();
  LogicalResult emitTable(LaunchOpInterface launch);
  LogicalResult emitKernels();
  /// Prints the parameters and the body of `kernel` to `text`.
  LogicalResult printKernel(KernelOp kernel, std::string &text);
  /// Whether `kernel` has parameters for partial results.
  bool takesPartials(KernelOp kernel);
  /// Emits the kernel of the launches `users`. `printKernel` printed `text`.
  void emitKernel(ArrayRef<KernelOp> users, StringRef text);
  void emitKernelComment(ArrayRef<KernelOp> users);
  std::string getKernelParameters(KernelOp kernel);
  /// The pointers that `kernel` takes, and then the numbers `arguments`.
  SmallVector<KernelParameter>
  listParameters(KernelOp kernel, ArrayRef<KernelArgument> arguments);
  LogicalResult emitKernelBody(KernelOp kernel);
  /// Prints an elementwise kernel in the loop order `order`.
  LogicalResult emitElementwise(KernelOp kernel, ArrayRef<unsigned> order);
  /// Prints the body of a kernel that counts values.
  LogicalResult emitStatistics(KernelOp kernel, ArrayRef<unsigned> order);
  /// Emits the kernel that calls `functions`, which count values.
  void emitCountKernel(ArrayRef<KernelOp> functions);
  /// Prints the launch of `first` and of the kernels that share it.
  void emitCounts(KernelOp first);
  SmallVector<std::pair<Value, KernelOp>>
  getClearedCounts(ArrayRef<KernelOp> group);
  /// Whether another kernel counts values before `kernel`, for the same reader.
  bool isCountedBefore(KernelOp kernel);
  LogicalResult emitReduction(KernelOp kernel, ArrayRef<unsigned> order);
  /// Prints the reads of the element-wise inputs.
  void emitReads(KernelOp kernel, ArrayRef<unsigned> order, unsigned indent);
  void emitLaunches();
  /// Prints the operands of a collective and what it waits for.
  void emitCollectiveOperands(LaunchOpInterface launch);
  void emitCollective(LaunchOpInterface launch);
  void emitRankPart(RankPartOp part);
  void emitAwait(AwaitOp await);
  /// Prints the table of collectives.
  void emitCollectives();
  /// Prints the operands and results of a call.
  void emitCallOperands(CallOp call);
  void emitCall(CallOp call);
  /// Prints the names of the operations that are called.
  void emitCallees();
  /// Prints the begin and the end of a part of a step. A step without calls has
  /// one part.
  void beginPart(unsigned part);
  void endPart();
  void emitPartList(unsigned count);
  void emitLaunchComment(LaunchOpInterface launch);
  void emitGemmBuffers(LaunchOpInterface launch);
  void emitLaunch(LaunchOpInterface launch);
  void emitProduct(LaunchOpInterface product);
  void emitConvolution(ConvOp conv);
  void emitLinearLoss(LinearCrossEntropyOp loss);
  void emitKernelLaunch(KernelOp kernel);
  void emitCasts(CastsOp casts);
  void emitCheck(CheckGradientsOp check);
  void emitOptimizer(OptimizerOp optimizer);
  void emitTunedKernel(LaunchOpInterface launch);
  void emitTables();

  /// Prints the computation of `values` of `body` from the lanes at one
  /// position.
  LogicalResult emitValue(KernelOp kernel, ArrayRef<unsigned> order,
                          unsigned yielded, unsigned indent);

  std::string getName(LaunchOpInterface launch);
  /// The file positions of `op`. If numbers are data, then files with equal
  /// steps have one source, and there are no positions.
  std::string getPlace(Operation *op) const {
    return numbers.printsLiterals() ? describeLocation(op->getLoc())
                                    : std::string();
  }
  /// The specifier of a constant of numbers.
  StringRef getConstant() const {
    return numbers.printsLiterals() ? "constexpr" : "const";
  }
  /// `at::fc1_weight`.
  std::string getOffset(Value buffer);
  /// `run.at<float>(at::fc1_weight)`.
  std::string getPointer(Value buffer);
  /// `static_cast<const float *>(run.at<float>(at::fc1_weight))`.
  std::string getConstPointer(Value buffer);
  /// The pointer to the scratch memory of a launch, or a null pointer.
  std::string getScratch(LaunchOpInterface launch, StringRef type = "void");
  /// `run.optimizers[0]`.
  std::string getTable(LaunchOpInterface launch);
  /// The pointer to the flag of a launch, or `nullptr`.
  std::string getGuard(LaunchOpInterface launch);
  std::string getArrivalCounters();
  /// Whether `buffer` is memory that a launch needs only at some extents. If
  /// numbers are data, then launches have its offset or -1.
  bool isOptional(BufferOp buffer);
  /// The pointer to `buffer`, which is optional, or to nothing.
  std::string getOptional(StringRef type, BufferOp buffer);
  /// The buffer with this role and, unless it is empty, the name `name`.
  BufferOp findBuffer(StringRef role, StringRef name = {});

  ProgramOp program;
  const EmitterOptions &options;
  raw_ostream &os;
  NumberPrinter numbers;
  Identifiers identifiers;
  DenseMap<Operation *, std::string> buffers;
  /// The scratch memory of launches.
  DenseSet<Operation *> optionalBuffers;
  /// The name of the kernel of a launch. Launches of equal kernels share one.
  DenseMap<Operation *, std::string> kernelNames;
  /// The functions of kernels that count values, as the kernel that calls them
  /// numbers them.
  DenseMap<Operation *, unsigned> countFunctions;
  /// The numbers that a launch passes to its kernel.
  DenseMap<Operation *, SmallVector<KernelArgument>> kernelArguments;
  /// The buffers in the table of the program.
  SmallVector<BufferOp> planned;
  SmallVector<LaunchOpInterface> launches;
  /// The first product of a launch, its plan and its table of tensors.
  DenseMap<Operation *, unsigned> products, plans, tables, collectives;
  unsigned numProducts = 0, numCalls = 0;
  int64_t stateBytes = 0;
};

/// Replaces each `@` by `prefix` and each `$` by `forward`.
inline std::string instantiate(StringRef text, StringRef prefix,
                               StringRef forward = "") {
  std::string result;
  for (char c : text) {
    if (c == '@')
      result += prefix;
    else if (c == '$')
      result += forward;
    else
      result += c;
  }
  return result;
}

} // namespace mlir::cuda

#endif // AMP_LIB_TARGET_CUDA_EMITTERSUPPORT_H
