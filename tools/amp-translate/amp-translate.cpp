//===- amp-translate.cpp - Translation of modules -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTranslation.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Pipelines/CUDAPipeline.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Precision/Policy/Target.h"
#include "amp/RegisterAll/Tools.h"
#include "amp/Support/InputFile.h"
#include "amp/Support/OptionCheck.h"
#include "amp/Support/ToolDiagnostics.h"
#include "amp/Target/CUDA/CUDAEmitter.h"
#include "amp/Target/CUDA/ProductTable.h"
#include "amp/Target/CUDA/Standalone.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

#include <initializer_list>
#include <limits>
#include <optional>

using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("amp-translate options");

static cl::opt<std::string> inputFile(cl::Positional, cl::init("-"),
                                      cl::desc("<step.mlir>"),
                                      cl::cat(category));
static cl::opt<std::string> outputFile("o", cl::init("-"),
                                       cl::value_desc("file"),
                                       cl::desc("Where to write"),
                                       cl::cat(category));
static cl::opt<bool>
    toCUDA("mlir-to-cuda",
           cl::desc("Print CUDA C++: of a 'cuda.program' as it is, of a "
                    "training step after amp-cuda-pipeline"),
           cl::cat(category));
static cl::opt<bool>
    printCosts("cuda-costs",
               cl::desc("Print the minimal cost of each launch instead"),
               cl::cat(category));
static cl::opt<std::string>
    target("target", cl::init("h100"), cl::value_desc("a100|h100|h200|b200"),
           cl::desc("The model of GPU of --cuda-costs (default: h100)"),
           cl::cat(category));
// For a trainer, which runs on a GPU, this is the number of that GPU.
static cl::opt<std::string> device("device", cl::Hidden, cl::cat(category));
static cl::opt<std::string>
    memory("memory", cl::value_desc("number[KiB|MiB|GiB]"),
           cl::desc("With --cuda-costs: print the largest batch whose step "
                    "takes no more memory"),
           cl::cat(category));
static cl::opt<std::string> productTable(
    "product-table", cl::value_desc("file"),
    cl::desc("With --mlir-to-cuda: look up the products in the table that the "
             "stage probe of tools/dev gpu wrote; those that the library "
             "refuses are errors"),
    cl::cat(category));
static cl::opt<std::string> entry("entry", cl::value_desc("name"),
                                  cl::desc("The step or program (default: the "
                                           "only one)"),
                                  cl::cat(category));
static cl::opt<std::string>
    precision("precision", cl::value_desc("f32|tf32|fp16|bf16|fp8"),
              cl::desc("Run the training pipeline with this precision first "
                       "(default: use the step as written)"),
              cl::cat(category));
static cl::opt<std::string>
    lossScaling("loss-scale", cl::value_desc("dynamic|layerwise|none|number"),
                cl::desc("How the pipeline scales the loss"),
                cl::cat(category));
static cl::opt<std::string>
    masterWeights("master-weights", cl::value_desc("cast|copy|split|none"),
                  cl::desc("How the pipeline keeps f32 weights"),
                  cl::cat(category));
static cl::opt<std::string>
    training("pipeline", cl::value_desc("options"),
             cl::desc("Further options of the training pipeline, as in "
                      "--pipeline='fp8-keep-last=0 gradient-norm'"),
             cl::cat(category));
static cl::opt<int64_t> batchSize("batch-size", cl::init(0),
                                  cl::desc("Samples in a batch, where the step "
                                           "leaves it open"),
                                  cl::cat(category));
static cl::opt<int64_t>
    ranks("ranks", cl::init(0),
          cl::desc("GPUs that train together, each on its part of the batch "
                   "(default: 1, or those of the step)"),
          cl::cat(category));
static cl::opt<bool> shardOptimizer(
    "shard-optimizer",
    cl::desc("With --ranks: each GPU keeps and updates a part of the state of "
             "the optimizers"),
    cl::cat(category));
static cl::opt<int64_t> shardMinElements(
    "shard-min-elements", cl::init(1024),
    cl::desc("With --shard-optimizer: parameters with fewer elements stay "
             "whole (default: 1024)"),
    cl::cat(category));
static cl::opt<int64_t>
    nodes("nodes", cl::init(1),
          cl::desc("With --cuda-costs: the machines of the ranks (default: 1)"),
          cl::cat(category));
static cl::opt<std::string> watch(
    "watch", cl::ValueOptional, cl::value_desc("regex"),
    cl::desc("Make the program count the values of the step whose names match "
             "(default: all), for --watch of a trainer and for callers of the "
             "C interface"),
    cl::cat(category));
static cl::opt<bool> noEpilogues(
    "no-epilogues",
    cl::desc("Leave activations and bias gradients out of products"),
    cl::cat(category));
static cl::opt<bool> strictRounding(
    "strict-rounding",
    cl::desc("Round the result of each operation to its type, as amp-run does"),
    cl::cat(category));
static cl::opt<std::string>
    attention("attention", cl::value_desc("auto|cudnn|decomposed"),
              cl::init("auto"),
              cl::desc("Compute attention by cuDNN or by products (default: by "
                       "cuDNN if this build has its library)"),
              cl::cat(category));
static cl::opt<std::string> convolutions(
    "convolutions", cl::value_desc("auto|cudnn|patches"), cl::init("auto"),
    cl::desc("Compute convolutions by cuDNN or as products over patches "
             "(default: by cuDNN if this build has its library)"),
    cl::cat(category));
static cl::opt<bool> nondeterministic(
    "nondeterministic",
    cl::desc("Let library kernels add in any order, which is faster and takes "
             "less memory"),
    cl::cat(category));
static cl::opt<int64_t> logitBytes(
    "logit-bytes", cl::init(int64_t(1) << 30),
    cl::desc(
        "The most memory for the logits of a classifier, in bytes; the loss "
        "of larger ones goes through the rows in chunks (default: 1 GiB; "
        "0: no limit)"),
    cl::cat(category));
static cl::opt<int64_t> attentionBytes(
    "attention-bytes", cl::init(int64_t(2) << 30),
    cl::desc("The most scratch memory for the gradient of an attention, in "
             "bytes; a larger one computes its samples in parts (default: 2 "
             "GiB; 0: no limit)"),
    cl::cat(category));
static cl::opt<bool> libraryDropout(
    "library-dropout",
    cl::desc("Let cuDNN draw the random numbers of dropout within attention, "
             "which are not those of amp-run (default: compute such attention "
             "by products)"),
    cl::cat(category));
static cl::opt<std::string> documents(
    "documents", cl::value_desc("bias|offsets"), cl::init("bias"),
    cl::desc("How attention by cuDNN reads documents of packed sequences: as a "
             "bias, or each as a sample by its offsets, which needs compute "
             "capability 9.0 (default: bias)"),
    cl::cat(category));
static cl::opt<int64_t> recomputeRate(
    "recompute-rate", cl::init(500000),
    cl::desc("The fewest bytes of memory that computing a value of the forward "
             "pass again frees per microsecond (default: 500000; 0: keep all "
             "values)"),
    cl::cat(category));
static cl::opt<bool> emitMain(
    "emit-main",
    cl::desc("Add a trainer with the options of amp-run, and --profile, --time "
             "and --no-graph"),
    cl::cat(category));
static cl::opt<bool> emitForward(
    "emit-forward",
    cl::desc("Add the forward function, for callers of the C interface (with "
             "--emit-main: always)"),
    cl::cat(category));
static cl::opt<std::string>
    headerFile("emit-header", cl::value_desc("file.h"),
               cl::desc("Write the C interface as a header too"),
               cl::cat(category));
static cl::opt<std::string>
    cmakeFile("emit-cmake", cl::value_desc("CMakeLists.txt"),
              cl::desc("Write a CMake project for the source too (needs -o)"),
              cl::cat(category));
static cl::opt<bool>
    standalone("standalone",
               cl::desc("Put the runtime headers into the source"),
               cl::cat(category));
static cl::opt<std::string>
    runtimeDir("runtime-dir", cl::value_desc("folder"),
               cl::desc("Folder with amp/Runtime, for --standalone"),
               cl::cat(category));

/// The number of ranks, each of which takes its part of the batch.
static int64_t getNumRanks() { return std::max<int64_t>(ranks, 1); }

/// Writes all files, or none after an error.
static int
writeFiles(llvm::ArrayRef<std::pair<std::string, std::string>> pathsAndTexts) {
  std::vector<std::unique_ptr<llvm::ToolOutputFile>> files;
  for (const auto &file : pathsAndTexts) {
    std::string message;
    files.push_back(openOutputFile(file.first, &message));
    if (!files.back())
      return amp::reportError(message);
    files.back()->os() << file.second;
  }
  for (std::unique_ptr<llvm::ToolOutputFile> &file : files)
    file->keep();
  return 0;
}

/// Whether both paths name one file, which need not exist. "-" is not a file.
static bool isSamePath(StringRef one, StringRef other) {
  if (one == "-" || other == "-")
    return false;
  llvm::SmallString<128> a(one), b(other);
  for (llvm::SmallString<128> *path : {&a, &b}) {
    if (llvm::sys::fs::make_absolute(*path))
      return one == other;
    llvm::sys::path::remove_dots(*path, /*remove_dot_dot=*/true);
  }
  bool same = false;
  return a == b || (!llvm::sys::fs::equivalent(a, b, same) && same);
}

/// The name of `file` in a file in the folder of `user`: a relative path.
static std::string getPathFrom(StringRef user, StringRef file) {
  StringRef name = llvm::sys::path::filename(file);
  if (user == "-" || file == "-")
    return name.str();
  // Follow links first: ".." is relative to their targets.
  llvm::SmallString<128> from, to;
  for (auto [path, folder] : {std::pair(user, &from), std::pair(file, &to)}) {
    llvm::SmallString<128> parent(llvm::sys::path::parent_path(path));
    if (parent.empty())
      parent = ".";
    if (llvm::sys::fs::real_path(parent, *folder))
      return name.str();
  }
  auto a = llvm::sys::path::begin(from), b = llvm::sys::path::begin(to);
  auto endOfA = llvm::sys::path::end(from), endOfB = llvm::sys::path::end(to);
  while (a != endOfA && b != endOfB && *a == *b)
    ++a, ++b;
  llvm::SmallString<128> path;
  for (; a != endOfA; ++a)
    llvm::sys::path::append(path, "..");
  for (; b != endOfB; ++b)
    llvm::sys::path::append(path, *b);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static LogicalResult runPipeline(ModuleOp module, int64_t batch,
                                 StringRef inference) {
  PassManager pm(module.getContext());
  amp::CUDAPipelineOptions options;
  options.batchSize = batch / getNumRanks();
  options.precision = precision;
  options.lossScaling = lossScaling;
  options.masterWeights = masterWeights;
  options.training = training;
  options.epilogues = !noEpilogues;
  options.strictRounding = strictRounding;
  options.attention = attention;
  options.convolutions = convolutions;
  options.deterministic = !nondeterministic;
  options.logitBytes = logitBytes;
  options.attentionBytes = attentionBytes;
  options.libraryDropout = libraryDropout;
  options.documents = documents;
  options.recomputeRate = recomputeRate;
  options.ranks = ranks;
  options.shardOptimizer = shardOptimizer;
  options.shardMinElements = shardMinElements;
  options.inference = inference.str();
  if (watch.getNumOccurrences())
    options.watch = watch.empty() ? "." : watch.getValue();
  amp::buildCUDAPipeline(pm, options);
  return pm.run(module);
}

/// Parses a number of bytes. Returns 0 if `text` is not one.
static int64_t parseBytes(StringRef text) {
  int64_t unit = text.consume_back("KiB")   ? int64_t(1) << 10
                 : text.consume_back("MiB") ? int64_t(1) << 20
                 : text.consume_back("GiB") ? int64_t(1) << 30
                                            : 1;
  int64_t number;
  if (text.getAsInteger(10, number) || number <= 0 ||
      number > std::numeric_limits<int64_t>::max() / unit)
    return 0;
  return number * unit;
}

/// The first given option that configures the conversion of a step to a
/// program. Empty if absent.
static StringRef getStepOption() {
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &precision,        &lossScaling,
           &masterWeights,    &training,
           &batchSize,        &ranks,
           &shardOptimizer,   &shardMinElements,
           &noEpilogues,      &strictRounding,
           &attention,        &convolutions,
           &nondeterministic, &logitBytes,
           &attentionBytes,   &libraryDropout,
           &documents,        &recomputeRate,
           &memory,           &watch})
    if (option->getNumOccurrences() > 0)
      return option->ArgStr;
  return {};
}

/// Rejects options that would have no effect, before any input is read.
static int checkOptions() {
  if (!toCUDA && !printCosts)
    return amp::reportError("expected --mlir-to-cuda or --cuda-costs");
  if (toCUDA && printCosts)
    return amp::reportError(
        "--mlir-to-cuda and --cuda-costs exclude each other");
  if (printCosts)
    for (const cl::Option *option : std::initializer_list<const cl::Option *>{
             &emitMain, &emitForward, &headerFile, &cmakeFile, &standalone,
             &runtimeDir, &productTable})
      if (option->getNumOccurrences() > 0)
        return amp::reportError("--" + option->ArgStr +
                                " needs --mlir-to-cuda");
  if (device.getNumOccurrences() > 0)
    return amp::reportError(
        "--device is the number of a GPU, which a trainer takes; "
        "expected --target for a model of GPU");
  for (const cl::Option *option :
       std::initializer_list<const cl::Option *>{&target, &nodes})
    if (toCUDA && option->getNumOccurrences() > 0)
      return amp::reportError("--" + option->ArgStr + " needs --cuda-costs");
  if (runtimeDir.getNumOccurrences() > 0 && !standalone)
    return amp::reportError("--runtime-dir needs --standalone");
  if (precision.empty())
    for (const cl::opt<std::string> *option :
         {&lossScaling, &masterWeights, &training})
      if (option->getNumOccurrences() > 0)
        return amp::reportError(
            "--" + option->ArgStr +
            " needs --precision: without it the step is taken as it "
            "is");
  if (batchSize.getNumOccurrences() > 0 && batchSize <= 0)
    return amp::reportError("--batch-size must be positive");
  if (ranks.getNumOccurrences() > 0 && ranks <= 0)
    return amp::reportError("--ranks must be positive");
  if (getNumRanks() == 1 && shardOptimizer)
    return amp::reportError(
        "--shard-optimizer divides the state between GPUs, expected "
        "--ranks of at least 2");
  if (shardMinElements.getNumOccurrences() > 0 && !shardOptimizer)
    return amp::reportError("--shard-min-elements needs --shard-optimizer");
  if (shardMinElements <= 0)
    return amp::reportError("--shard-min-elements must be positive");
  if (getNumRanks() > 1 && !memory.empty())
    return amp::reportError("--memory is for one rank, expected no --ranks");
  if (batchSize % getNumRanks() != 0)
    return amp::reportError("a batch of " + Twine(batchSize) +
                            " samples cannot be divided between " +
                            Twine(getNumRanks()) + " ranks");
  for (const cl::opt<int64_t> *option :
       {&logitBytes, &attentionBytes, &recomputeRate})
    if (*option < 0)
      return amp::reportError("--" + option->ArgStr + " must not be negative");
  const std::pair<StringRef, StringRef> outputs[] = {
      {"o", outputFile},
      {"emit-header", headerFile},
      {"emit-cmake", cmakeFile}};
  for (auto [index, output] : llvm::enumerate(outputs)) {
    if (!output.second.empty() && isSamePath(output.second, inputFile))
      return amp::reportError("-" + Twine(output.first.size() > 1 ? "-" : "") +
                              output.first + " names the module '" + inputFile +
                              "', which it would replace");
    for (const auto &other : llvm::ArrayRef(outputs).take_front(index))
      if (!output.second.empty() &&
          (isSamePath(output.second, other.second) ||
           (output.second == "-" && other.second == "-")))
        return amp::reportError("--" + output.first + " and -" +
                                (other.first.size() > 1 ? "-" : "") +
                                other.first + " name the same file '" +
                                output.second + "'");
  }
  return 0;
}

/// Rejects values that no option takes, before anything is read.
static int checkValues() {
  if (!amp::getTarget(target))
    return amp::reportError("unknown target '" + target +
                            "', expected one of " + amp::listTargets());
  if (!cmakeFile.empty() && outputFile == "-")
    return amp::reportError(
        "--emit-cmake needs the name of the source, expected -o");
  if (!memory.empty() && !printCosts)
    return amp::reportError("--memory needs --cuda-costs");
  if (!memory.empty() && parseBytes(memory) == 0)
    return amp::reportError("expected a number of bytes, such as 80GiB, got '" +
                            memory + "'");
  if (std::string wrong =
          amp::findTrainingFault(training, precision, "", lossScaling);
      !wrong.empty())
    return amp::reportError(wrong);
  if (!precision.empty() &&
      !llvm::is_contained({"f32", "tf32", "fp16", "bf16", "fp8"}, precision) &&
      !StringRef(precision).starts_with("fp8-"))
    return amp::reportError(
        "unknown precision '" + precision +
        "', expected f32, tf32, fp16, bf16, fp8 or fp8- and a recipe");
  return 0;
}

/// Rejects options that change nothing where all is planned already. Chooses
/// the batch with `--memory`, and says so in `largest`.
static int prepare(const amp::StepTranslation &translation, ModuleOp module,
                   std::string &largest) {
  bool hasStep =
      llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return !function.isExternal() && amp::isStepFunction(function);
      });
  if (StringRef option = getStepOption();
      !option.empty() && !hasStep && !module.getOps<cuda::ProgramOp>().empty())
    return amp::reportError(
        "--" + option +
        " says how a step becomes a program, but the module has a "
        "'cuda.program' already");
  if (memory.empty() && translation.hasOpenBatch(module) && batchSize == 0)
    return amp::reportError(
        "the step leaves its batch open, expected --batch-size");
  if (memory.empty())
    return 0;
  if (hasStep && !translation.hasOpenBatch(module))
    return amp::reportError(
        "--memory asks for the largest batch, but no step leaves its "
        "batch open");
  llvm::raw_string_ostream os(largest);
  FailureOr<int64_t> batch =
      translation.printLargestBatch(module, parseBytes(memory), os);
  if (failed(batch))
    return 1;
  // The costs refer to the given batch size, or else to this one.
  if (batchSize.getNumOccurrences() == 0) {
    os << "the costs are for a batch of " << *batch << "\n";
    batchSize = *batch;
  }
  return 0;
}

/// Looks up the products of the source `text` in the table, if one is given.
static int checkProducts(StringRef text) {
  if (productTable.empty())
    return 0;
  auto table = amp::readInputFile(productTable, uint64_t(1) << 30);
  if (!table)
    return amp::reportError("cannot read '" + productTable +
                            "': " + llvm::toString(table.takeError()));
  llvm::Expected<cuda::ProductAnswers> answers =
      cuda::lookUpProducts(text, (*table)->getBuffer());
  if (!answers)
    return amp::reportError(
        "'" + productTable +
        "' is not a table of products: " + llvm::toString(answers.takeError()));
  if (!answers->unknown.empty())
    llvm::errs() << "amp-translate: warning: '" << productTable
                 << "' does not have the products "
                 << llvm::join(answers->unknown, ", ")
                 << ", so it is not known whether the library (of "
                 << answers->library << ") accepts them\n";
  if (!answers->refused.empty())
    return amp::reportError("the library has no algorithm for the products " +
                            llvm::join(answers->refused, ", ") + " (" +
                            answers->library + ", by '" + productTable + "')");
  return 0;
}

/// Writes the source of `program` and its companion files.
static int emit(ModuleOp module, cuda::ProgramOp program) {
  std::vector<std::pair<std::string, std::string>> files;
  cuda::EmitterOptions options;
  if (inputFile != "-")
    options.source = llvm::sys::path::filename(inputFile).str();
  options.emitMain = emitMain;
  options.emitForward = emitForward;
  options.forward = amp::StepTranslation::findForward(module, program);
  std::string text, header;
  if (!headerFile.empty()) {
    options.header = getPathFrom(outputFile, headerFile);
    cuda::emitHeader(program, header);
  }
  if (failed(cuda::emitCUDA(program, options, text)))
    return 1;
  if (int status = checkProducts(text))
    return status;
  if (standalone) {
    std::string folder = runtimeDir, message;
    if (folder.empty())
      folder = cuda::findRuntimeHeaders();
    if (!cuda::inlineRuntime(text, folder, message) ||
        !cuda::inlineRuntime(header, folder, message))
      return amp::reportError(message);
  }
  if (!headerFile.empty())
    files.push_back({headerFile, header});
  files.push_back({outputFile, text});
  if (!cmakeFile.empty()) {
    std::string cmake;
    cuda::emitCMake(program, options, getPathFrom(cmakeFile, outputFile),
                    strictRounding, cmake);
    files.push_back({cmakeFile, cmake});
  }
  return writeFiles(files);
}

static int translate() {
  if (int status = checkOptions())
    return status;
  if (int status = checkValues())
    return status;
  DialectRegistry registry;
  amp::registerToolDialects(registry);
  MLIRContext context(registry);
  // A diagnostic of a module or a function would print all of it.
  context.printOpOnDiagnostic(false);
  auto input = amp::readModule(inputFile);
  if (!input)
    return amp::reportError(llvm::toString(input.takeError()));
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(*input), llvm::SMLoc());
  amp::ToolDiagnosticHandler handler("amp-translate", *sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  amp::StepTranslation translation(entry, runPipeline);
  std::string largest;
  if (int status = prepare(translation, *module, largest))
    return status;
  if (batchSize.getNumOccurrences() > 0 &&
      failed(translation.checkFixedBatch(*module, batchSize)))
    return 1;
  StringRef missingForward =
      emitMain      ? "the trainer has neither --eval nor --predict"
      : emitForward ? "there is no forward function"
                    : "";
  if (failed(translation.makePrograms(module, batchSize, missingForward)))
    return 1;
  cuda::ProgramOp program = translation.findProgram(*module);
  if (!program)
    return 1;
  if (!printCosts)
    return emit(*module, program);
  if (std::string missing = cuda::describeMissingProducts(
          program, amp::getGPURates(target)->capability);
      !missing.empty())
    return amp::reportError("the step has " + missing + ", which the target '" +
                            target + "' lacks");
  const auto programRanks = int64_t(program.getRanks().value_or(1));
  if (nodes <= 0 || programRanks % nodes != 0)
    return amp::reportError("--nodes=" + Twine(nodes) + " does not divide " +
                            Twine(programRanks) +
                            (programRanks == 1 ? " rank" : " ranks"));
  std::string text;
  llvm::raw_string_ostream os(text);
  cuda::printCosts(program, target, nodes, os);
  os << largest;
  return writeFiles({{outputFile, text}});
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(amp::printToolVersion);
  amp::AMPPipelineOptions pipeline;
  if (failed(amp::checkOptionNames(
          "amp-translate", argc, argv,
          {{"--pipeline", amp::getOptionNames(pipeline)}})))
    return 1;
  cl::ParseCommandLineOptions(argc, argv,
                              "AMP: training steps as programs for a GPU\n");
  return translate();
}
