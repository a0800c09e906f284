//===- amp-run.cpp - Train a graph ----------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankOptions.h"

#include "amp/Execution/CompiledStep.h"
#include "amp/Execution/Errors.h"
#include "amp/Execution/ScaleSweep.h"
#include "amp/Execution/StepMemory.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/RegisterAll/Tools.h"
#include "amp/Support/InputFile.h"
#include "amp/Support/OptionCheck.h"
#include "amp/Support/OutputFile.h"
#include "amp/Support/PrecisionName.h"
#include "amp/Support/ToolDiagnostics.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>
#include <unistd.h>

using namespace mlir;
using namespace mlir::amp;
namespace cl = llvm::cl;

static cl::OptionCategory category("amp-run options");

static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<model.mlir>"),
                                      cl::cat(category));
static cl::opt<std::string> entry("entry", cl::value_desc("function"),
                                  cl::desc("The training step (default: the "
                                           "only one)"),
                                  cl::cat(category));
static cl::opt<std::string>
    precision("precision", cl::value_desc("f32|fp16|bf16|fp8"),
              cl::desc("Run the training pipeline with this precision first "
                       "(default: run the module as written)"),
              cl::cat(category));
static cl::list<std::string>
    compare("compare", cl::CommaSeparated, cl::value_desc("f32,fp16,bf16,fp8"),
            cl::desc("Train once in each precision and print a table"),
            cl::cat(category));
static cl::opt<std::string> fp8Recipe(
    "fp8-recipe", cl::value_desc("current|delayed|rowwise|block-128|mxfp8"),
    cl::desc("How the 8-bit operands of fp8 get their scales (default: "
             "current); --precision=fp8-rowwise is the same"),
    cl::cat(category));
static cl::opt<std::string>
    lossScaling("loss-scale", cl::value_desc("dynamic|layerwise|none|number"),
                cl::desc("How the pipeline scales the loss (default: dynamic "
                         "for fp16, none for bf16)"),
                cl::cat(category));
static cl::opt<std::string> masterWeights(
    "master-weights", cl::value_desc("cast|copy|split|none"),
    cl::desc("How the pipeline keeps f32 weights (default: cast)"),
    cl::cat(category));
static cl::opt<std::string>
    pipelineOptions("pipeline", cl::value_desc("options"),
                    cl::desc("Further options of the training pipeline, as in "
                             "--pipeline='scaler=apex gradient-norm'"),
                    cl::cat(category));
static cl::opt<std::string>
    backend("backend", cl::init("cpu"), cl::value_desc("cpu|cuda"),
            cl::desc("Where to train (default: cpu); cuda compiles the step "
                     "with nvcc"),
            cl::cat(category));
static cl::opt<unsigned>
    device("device", cl::init(0), cl::value_desc("n"),
           cl::desc("With --backend=cuda: the number of the GPU (default: 0)"),
           cl::cat(category));
static cl::opt<std::string>
    cudaCompiler("cuda-compiler", cl::value_desc("program"),
                 cl::desc("With --backend=cuda: called as nvcc (default: "
                          "AMP_CUDA_COMPILER, else nvcc)"),
                 cl::cat(category));
static cl::opt<std::string>
    cudaCache("cuda-cache", cl::value_desc("folder"),
              cl::desc("With --backend=cuda: where compiled steps are kept "
                       "(default: amp in XDG_CACHE_HOME or in ~/.cache)"),
              cl::cat(category));
static cl::opt<bool> strictRounding(
    "strict-rounding",
    cl::desc("With --backend=cuda: round the result of each operation to its "
             "type, as the CPU does"),
    cl::cat(category));
// For amp-translate this is a model of GPU.
static cl::opt<std::string> target("target", cl::Hidden, cl::cat(category));
static cl::opt<unsigned>
    threads("num-threads", cl::init(0), cl::value_desc("number"),
            cl::desc("Threads that a step runs on (default: OMP_NUM_THREADS, "
                     "else the processors of the machine); results do not "
                     "depend on it"),
            cl::cat(category));
static cl::opt<bool> gradientHistogram(
    "gradient-histogram",
    cl::desc("Print where the gradients lie in the range of f16"),
    cl::cat(category));
static cl::opt<std::string> watch(
    "watch", cl::ValueOptional, cl::value_desc("regex"),
    cl::desc("Count non-finite values, overflow and underflow of the values of "
             "the step whose names match (default: all)"),
    cl::cat(category));
static cl::opt<int64_t>
    watchEvery("watch-every", cl::init(1), cl::value_desc("n"),
               cl::desc("With --watch: sample one step of n (default: 1)"),
               cl::cat(category));
static cl::opt<std::string>
    watchJSON("watch-json", cl::value_desc("file"),
              cl::desc("With --watch: write the statistics as JSON"),
              cl::cat(category));
static cl::opt<std::string>
    watchPage("watch-page", cl::value_desc("file.html"),
              cl::desc("With --watch: write the statistics as a page"),
              cl::cat(category));
static cl::opt<std::string> explainEvery(
    "explain", cl::ValueOptional, cl::value_desc("n"),
    cl::desc("Name the operation and the cause when a step is skipped or a "
             "value is not finite; take a snapshot every n steps (default: 1)"),
    cl::cat(category));
static cl::opt<std::string>
    explainJSON("explain-json", cl::value_desc("file"),
                cl::desc("With --explain: write the explanations as JSON"),
                cl::cat(category));
static cl::opt<std::string>
    calibrate("calibrate", cl::value_desc("file.json"),
              cl::desc("Measure the ranges of all values in f32 and write them "
                       "for --pipeline=ranges=file.json"),
              cl::cat(category));
static cl::opt<std::string> sweepScale(
    "sweep-scale", cl::ValueOptional, cl::value_desc("from:to:factor"),
    cl::desc("Train in fp16 with each of these constant loss scales, and in "
             "f32 (default: 1:16777216:16)"),
    cl::cat(category));
static cl::opt<std::string>
    sweepJSON("sweep-json", cl::value_desc("file"),
              cl::desc("With --sweep-scale: write the runs as JSON"),
              cl::cat(category));
static cl::opt<std::string>
    sweepPage("sweep-page", cl::value_desc("file.html"),
              cl::desc("With --sweep-scale: plot zeros, skipped steps and the "
                       "loss over the scale"),
              cl::cat(category));
static cl::opt<std::string> searchFile(
    "search", cl::value_desc("file.yaml"),
    cl::desc("Find the assignment of least cost whose loss stays near that in "
             "f32, and write it as a policy for --pipeline=policy=file.yaml"),
    cl::cat(category));
static cl::opt<double> searchBound(
    "search-bound", cl::init(0.01), cl::value_desc("bound"),
    cl::desc("With --search: the largest difference of the loss, as a part of "
             "the one in f32 (default: 0.01)"),
    cl::cat(category));
static cl::opt<bool> searchPresets(
    "search-presets",
    cl::desc("With --search: train with each preset too, and list its cost "
             "and its loss"),
    cl::cat(category));
static cl::opt<bool>
    diverge("diverge",
            cl::desc("Train in f32 too, on the same batches, and print where "
                     "the values of --precision or --compare depart from it"),
            cl::cat(category));
static cl::opt<std::string>
    divergeJSON("diverge-json", cl::value_desc("file"),
                cl::desc("With --diverge: write the errors of all values"),
                cl::cat(category));
static cl::opt<double> divergeBisect(
    "diverge-bisect", cl::init(0), cl::value_desc("bound"),
    cl::desc("With --diverge: name the operation whose low precision "
             "makes the loss differ by this part of the one in f32"),
    cl::cat(category));
static cl::opt<int64_t>
    ranks("ranks", cl::init(0), cl::value_desc("n"),
          cl::desc("Fail unless mpirun or srun has started this number of "
                   "processes (default: any number)"),
          cl::cat(category));
static cl::opt<std::string> checkRanks(
    "check-ranks", cl::ValueOptional, cl::value_desc("n"),
    cl::desc("Check after every n steps that all ranks have the same states "
             "(default: 1)"),
    cl::cat(category));
static cl::opt<bool> shardOptimizer(
    "shard-optimizer",
    cl::desc("With several processes: each keeps and updates a part of the "
             "state of the optimizers (ZeRO)"),
    cl::cat(category));
static cl::opt<double> rankDeadline(
    "rank-deadline", cl::init(600), cl::value_desc("s"),
    cl::desc("End all processes if one waits this long for another "
             "(default: 600 s)"),
    cl::cat(category));
static cl::opt<bool>
    printIR("print-ir", cl::desc("Print the module that would run and stop"),
            cl::cat(category));

namespace {
/// The options that trainers of generated programs share.
class TrainingCommandLine {
public:
  TrainingCommandLine() {
    for (const host::OptionInfo &option : host::kTrainingOptions)
      if (!option.value)
        flags.push_back(std::make_unique<cl::opt<bool>>(
            llvm::StringRef(option.name), cl::desc(option.help),
            cl::cat(category)));
      else if (host::isRepeatable(option))
        lists.push_back(std::make_unique<cl::list<std::string>>(
            llvm::StringRef(option.name), cl::value_desc(option.value),
            cl::desc(option.help), cl::cat(category)));
      else
        texts.push_back(std::make_unique<cl::opt<std::string>>(
            llvm::StringRef(option.name), cl::value_desc(option.value),
            cl::desc(option.help), cl::cat(category)));
  }

  /// Reads the given options.
  llvm::Error read(host::TrainingOptions &options) const {
    for (const auto &flag : flags)
      if (*flag)
        if (llvm::Error error = set(options, flag->ArgStr, ""))
          return error;
    for (const auto &text : texts)
      if (text->getNumOccurrences())
        if (llvm::Error error = set(options, text->ArgStr, *text))
          return error;
    for (const auto &list : lists)
      for (const std::string &text : *list)
        if (llvm::Error error = set(options, list->ArgStr, text))
          return error;
    return llvm::Error::success();
  }

private:
  static llvm::Error set(host::TrainingOptions &options, llvm::StringRef name,
                         const std::string &text) {
    return toError(host::setOption(&options, name.str(), text));
  }

  std::vector<std::unique_ptr<cl::opt<bool>>> flags;
  std::vector<std::unique_ptr<cl::opt<std::string>>> texts;
  std::vector<std::unique_ptr<cl::list<std::string>>> lists;
};
} // namespace

/// Copies the options of --search.
static llvm::Error readSearchOptions(DebugOptions &options) {
  options.policy = searchFile;
  options.bound = searchBound;
  options.presets = searchPresets;
  if (searchFile.getNumOccurrences() && searchFile.empty())
    return makeError("--search needs the name of a file");
  for (const cl::Option *option : {static_cast<cl::Option *>(&searchBound),
                                   static_cast<cl::Option *>(&searchPresets)})
    if (option->getNumOccurrences() && searchFile.empty())
      return makeError("--{0} needs --search", option->ArgStr);
  if (!(searchBound > 0 && std::isfinite(searchBound)))
    return makeError("--search-bound must be positive, got {0}",
                     double(searchBound));
  return llvm::Error::success();
}

/// Copies the options for debugging.
static llvm::Error readDebugOptions(DebugOptions &options) {
  options.watch = watch.getNumOccurrences() != 0;
  options.match = watch;
  std::string wrong;
  if (llvm::Regex regex(options.match);
      !options.match.empty() && !regex.isValid(wrong))
    return makeError("wrong value of --watch: '{0}', expected a regular "
                     "expression: {1}",
                     options.match, wrong);
  options.every = watchEvery;
  options.watchJSON = watchJSON;
  options.watchPage = watchPage;
  options.explain = explainEvery.getNumOccurrences() != 0;
  options.explainJSON = explainJSON;
  if (watchEvery < 1)
    return makeError("--watch-every must be at least 1, got {0}",
                     int64_t(watchEvery));
  for (const cl::Option *option : {static_cast<cl::Option *>(&watchEvery),
                                   static_cast<cl::Option *>(&watchJSON),
                                   static_cast<cl::Option *>(&watchPage)})
    if (option->getNumOccurrences() && !options.watch)
      return makeError("--{0} needs --watch", option->ArgStr);
  if (explainJSON.getNumOccurrences() && !options.explain)
    return makeError("--explain-json needs --explain");
  options.ranges = calibrate;
  if (calibrate.getNumOccurrences() && calibrate.empty())
    return makeError("--calibrate needs the name of a file");
  if (sweepScale.getNumOccurrences()) {
    auto scales = parseSweptScales(sweepScale);
    if (!scales)
      return scales.takeError();
    options.scales = std::move(*scales);
  }
  options.sweepJSON = sweepJSON;
  options.sweepPage = sweepPage;
  for (const cl::Option *option : {static_cast<cl::Option *>(&sweepJSON),
                                   static_cast<cl::Option *>(&sweepPage)})
    if (option->getNumOccurrences() && options.scales.empty())
      return makeError("--{0} needs --sweep-scale", option->ArgStr);
  if (llvm::Error error = readSearchOptions(options))
    return error;
  options.diverge = diverge;
  options.divergeJSON = divergeJSON;
  options.bisect = divergeBisect;
  for (const cl::Option *option : {static_cast<cl::Option *>(&divergeJSON),
                                   static_cast<cl::Option *>(&divergeBisect)})
    if (option->getNumOccurrences() && !diverge)
      return makeError("--{0} needs --diverge", option->ArgStr);
  if (divergeBisect.getNumOccurrences() &&
      !(divergeBisect > 0 && std::isfinite(divergeBisect)))
    return makeError("--diverge-bisect must be positive, got {0}",
                     double(divergeBisect));
  if (!explainEvery.empty() &&
      (llvm::StringRef(explainEvery).getAsInteger(10, options.interval) ||
       options.interval < 1))
    return makeError("wrong value of --explain: '{0}', expected the number of "
                     "steps between snapshots",
                     std::string(explainEvery));
  return llvm::Error::success();
}

/// Copies the precisions. Those that are fp8 get the recipe.
static llvm::Error readPrecisions(RunnerOptions &options) {
  bool isUsed = false;
  auto withRecipe = [&](llvm::StringRef given) {
    std::string name = canonicalizePrecision(given).str();
    if (name != "fp8" || fp8Recipe.empty())
      return name;
    isUsed = true;
    return name + "-" + fp8Recipe;
  };
  options.precision = withRecipe(precision.getValue());
  for (const std::string &name : compare)
    options.compare.push_back(withRecipe(name));
  if (fp8Recipe.getNumOccurrences() && !isUsed)
    return makeError("--fp8-recipe needs fp8 in --precision or --compare");
  return llvm::Error::success();
}

/// Copies the command line into `options`.
static llvm::Error readOptions(const TrainingCommandLine &training,
                               RankGroup *group, RunnerOptions &options) {
  if (llvm::Error error = training.read(options.training))
    return error;
  options.group = group;
  if (group) {
    options.training.ranks = options.program.ranks = group->getNumRanks();
    options.training.rank = options.program.rank = group->getRank();
    group->setDeadline(rankDeadline);
  }
  options.program.shardOptimizer = shardOptimizer;
  if (!(rankDeadline > 0))
    return makeError("--rank-deadline must be positive, got {0}",
                     double(rankDeadline));
  if (checkRanks.getNumOccurrences())
    options.checkRanks = 1;
  if (!checkRanks.empty() &&
      (llvm::StringRef(checkRanks).getAsInteger(10, options.checkRanks) ||
       options.checkRanks < 1))
    return makeError("wrong value of --check-ranks: '{0}', expected the number "
                     "of steps between checks",
                     std::string(checkRanks));
  options.program.entry = entry;
  options.program.lossScaling = lossScaling;
  options.program.masterWeights = masterWeights;
  options.program.pipeline = pipelineOptions;
  options.program.exposeGradients = gradientHistogram;
  if (threads.getNumOccurrences() && threads == 0)
    return makeError("--num-threads must be at least 1, got 0");
  options.program.threads = threads;
  if (target.getNumOccurrences())
    return makeError("--target is a model of GPU, which amp-translate "
                     "--cuda-costs takes; expected --backend, or --device for "
                     "the number of a GPU");
  options.backend = backend;
  options.cuda.compiler = cudaCompiler;
  options.cuda.cache = cudaCache;
  // By default, each rank takes the GPU of its number on its machine.
  options.cuda.device = group && !device.getNumOccurrences() ? -1 : int(device);
  options.cuda.strictRounding = strictRounding;
  options.cuda.quiet = options.training.quiet;
  auto addGiven = [](std::vector<std::string> &names,
                     std::initializer_list<const cl::Option *> given) {
    for (const cl::Option *option : given)
      if (option->getNumOccurrences())
        names.push_back(option->ArgStr.str());
  };
  addGiven(options.cpuOptions,
           {&threads, &gradientHistogram, &explainEvery, &calibrate,
            &searchFile, &sweepScale, &diverge});
  addGiven(options.cudaOptions,
           {&device, &cudaCompiler, &cudaCache, &strictRounding});
  addGiven(options.rankOptions, {&shardOptimizer, &rankDeadline, &checkRanks});
  if (llvm::Error error = readPrecisions(options))
    return error;
  options.title = inputFile;
  options.gradientHistogram = gradientHistogram;
  options.printIR = printIR;
  return readDebugOptions(options.debug);
}

/// The options of other programs that train.
static constexpr OptionSynonym kSynonyms[] = {
    {"amp", "--precision=bf16 or --precision=fp16"},
    {"batch", "--batch-size"},
    {"checkpoint", "--save=state.npz or --load=state.npz"},
    {"cuda", "--backend=cuda"},
    {"dtype", "--precision=bf16 or --precision=fp16"},
    {"gpu", "--backend=cuda"},
    {"learning-rate", "--set=lr=value, with the name of the hyperparameter"},
    {"lr", "--set=lr=value, with the name of the hyperparameter"},
    {"mixed-precision", "--precision=bf16 or --precision=fp16"},
    {"optimizer", "amp-model --optimizer; a module contains its optimizer"},
    {"output", "--save=state.npz"},
    {"o", "--save=state.npz"},
    {"resume", "--load=state.npz"},
    {"threads", "--num-threads"},
    {"validate", "--eval"},
};

/// Reports exhausted memory without allocating, and ends the process.
[[noreturn]] static void endWithoutMemory(void *, const char *reason, bool) {
  for (llvm::StringRef text : {"amp-run: error: ", reason, "\n"})
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0)
      break;
  // Remove temporary files.
  llvm::sys::RunInterruptHandlers();
  ::_exit(1);
}

static llvm::Error runMain(const TrainingCommandLine &training,
                           RankGroup *group, MLIRContext &context) {
  RunnerOptions options;
  if (llvm::Error error = readOptions(training, group, options))
    return error;
  auto input = amp::readModule(inputFile);
  if (!input)
    return input.takeError();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*input), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return llvm::make_error<DiagnosedError>();
  if (llvm::Error error = run(*module, std::move(options)))
    return error;
  if (llvm::Error error = flushStandardOutput())
    return makeError("cannot write '<stdout>': {0}",
                     llvm::toString(std::move(error)));
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  llvm::install_bad_alloc_error_handler(endWithoutMemory);
  host::noMemoryHandler() = amp::reportOutOfMemory;
  TrainingCommandLine training;
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(amp::printToolVersion);
  AMPPipelineOptions pipeline;
  if (failed(checkOptionNames("amp-run", argc, argv,
                              {{"--pipeline", getOptionNames(pipeline)}},
                              kSynonyms)))
    return 1;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Trains the step function of a module\n\n"
      "  amp-run model.mlir --data digits.npz --precision fp16 --epochs 10 "
      "--eval\n");

  DialectRegistry registry;
  registerToolDialects(registry);
  registerExecutionDialects(registry);
  MLIRContext context(registry);
  // The reader of a diagnostic has the model, so do not print the operation.
  context.printOpOnDiagnostic(false);
  int status = 0;
  auto report = [&](llvm::Error error, llvm::raw_ostream &os) {
    llvm::handleAllErrors(
        std::move(error), [&](const DiagnosedError &) { status = 1; },
        [&](const llvm::ErrorInfoBase &info) {
          os << "amp-run: error: " << info.message() << '\n';
          status = 1;
        });
  };
  llvm::Expected<std::unique_ptr<RankGroup>> group = RankGroup::join(ranks);
  if (!group) {
    report(group.takeError(), llvm::errs());
    return status;
  }
  {
    RankMessages messages(group->get());
    llvm::SourceMgr sourceMgr;
    ToolDiagnosticHandler diagnostics("amp-run", sourceMgr, &context,
                                      messages.getStream());
    report(runMain(training, group->get(), context), messages.getStream());
    if (status != 0)
      messages.abort();
  }
  // Ignore errors of the stream. It would otherwise abort when it is destroyed.
  llvm::consumeError(flushStandardOutput());
  return host::getExitStatus(status);
}
