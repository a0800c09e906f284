//===- amp-run.cpp - Train a graph on the CPU -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "amp/Execution/CompiledStep.h"
#include "amp/Execution/Files.h"
#include "amp/InitAll.h"
#include "amp/Support/OutputFile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"
#include <unistd.h>

using namespace mlir;
using namespace mlir::amp;
namespace cl = llvm::cl;

static cl::OptionCategory category("amp-run options");

static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<model.mlir>"),
                                      cl::cat(category));
static cl::list<std::string>
    dataFiles("data", cl::CommaSeparated, cl::value_desc("file.npz"),
              cl::desc("Arrays of the batch arguments, by name: .npz files, or "
                       ".npy files named after the argument"),
              cl::cat(category));
static cl::opt<std::string> entry("entry", cl::value_desc("function"),
                                  cl::desc("The training step (default: the "
                                           "only one)"),
                                  cl::cat(category));
static cl::opt<std::string>
    precision("precision", cl::value_desc("f32|fp16|bf16"),
              cl::desc("Run the training pipeline with this precision first "
                       "(default: run the module as written)"),
              cl::cat(category));
static cl::list<std::string>
    compare("compare", cl::CommaSeparated, cl::value_desc("f32,fp16,bf16"),
            cl::desc("Train once in each precision and print a table"),
            cl::cat(category));
static cl::opt<std::string>
    lossScaling("loss-scale", cl::value_desc("dynamic|layerwise|none|number"),
                cl::desc("How the pipeline scales the loss (default: dynamic "
                         "for fp16, none for bf16)"),
                cl::cat(category));
static cl::opt<std::string> masterWeights(
    "master-weights", cl::value_desc("cast|copy|none"),
    cl::desc("How the pipeline keeps f32 weights (default: cast)"),
    cl::cat(category));
static cl::opt<std::string>
    pipelineOptions("pipeline", cl::value_desc("options"),
                    cl::desc("Further options of the training pipeline, as in "
                             "--pipeline='scaler=apex gradient-norm'"),
                    cl::cat(category));
static cl::opt<int64_t> steps("steps", cl::init(-1),
                              cl::desc("Training steps to run"),
                              cl::cat(category));
static cl::opt<int64_t>
    epochs("epochs", cl::init(-1),
           cl::desc("Passes over the data to run (default: 1, or none for "
                    "--eval or --predict with --load or --init)"),
           cl::cat(category));
static cl::opt<unsigned>
    threads("num-threads", cl::init(0), cl::value_desc("number"),
            cl::desc("Threads that a step runs on (default: OMP_NUM_THREADS, "
                     "else the processors of the machine); results do not "
                     "depend on it"),
            cl::cat(category));
static cl::opt<int64_t>
    batchSize("batch-size", cl::init(0),
              cl::desc("Samples in a batch (default: what the graph fixes, "
                       "else that of the run resumed by --load, else 64)"),
              cl::cat(category));
static cl::opt<std::string>
    lastBatch("last-batch", cl::init("drop"), cl::value_desc("drop|keep"),
              cl::desc("What to do with the samples at the end of an epoch "
                       "that fill no batch (default: drop); evaluation always "
                       "keeps them"),
              cl::cat(category));
static cl::list<std::string> settings("set", cl::value_desc("name=value"),
                                      cl::desc("Give a hyperparameter a value"),
                                      cl::cat(category));
static cl::opt<std::string>
    trainPrefix("train-prefix", cl::init("train_"),
                cl::desc("Prefix of the training arrays (default: train_); "
                         "arrays without it are taken where there is none"),
                cl::cat(category));
static cl::opt<std::string>
    evalPrefix("eval-prefix", cl::init("test_"),
               cl::desc("Prefix of the held-out arrays (default: test_)"),
               cl::cat(category));
static cl::opt<bool> evaluate("eval",
                              cl::desc("Evaluate on the held-out arrays"),
                              cl::cat(category));
static cl::opt<std::string>
    predictFile("predict", cl::value_desc("out.npz"),
                cl::desc("Write the predictions for the held-out arrays"),
                cl::cat(category));
static cl::opt<std::string>
    initFile("init", cl::value_desc("weights.npz"),
             cl::desc("Start from these parameters, by name"),
             cl::cat(category));
static cl::opt<std::string> loadFile("load", cl::value_desc("state.npz"),
                                     cl::desc("Resume from a saved state"),
                                     cl::cat(category));
static cl::opt<bool>
    otherScaler("other-scaler",
                cl::desc("With --load, go on with other rules of loss scaling "
                         "than those that the state was saved with"),
                cl::cat(category));
static cl::opt<std::string> saveFile("save", cl::value_desc("state.npz"),
                                     cl::desc("Save the state at the end"),
                                     cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::init(0),
                              cl::desc("Seed of initial values and data order "
                                       "(default: 0)"),
                              cl::cat(category));
static cl::opt<int64_t>
    seeds("seeds", cl::init(1),
          cl::desc("Repeat with this many seeds, from --seed on"),
          cl::cat(category));
static cl::opt<std::string> csvFile("metrics-csv", cl::value_desc("file"),
                                    cl::desc("Write the metrics of each step"),
                                    cl::cat(category));
static cl::opt<std::string>
    jsonFile("metrics-json", cl::value_desc("file"),
             cl::desc("Write the metrics of each step and the results"),
             cl::cat(category));
static cl::opt<std::string>
    plotFile("plot", cl::value_desc("file.html"),
             cl::desc("Draw loss, loss scale and skipped steps"),
             cl::cat(category));
static cl::opt<bool> gradientHistogram(
    "gradient-histogram",
    cl::desc("Print where the gradients lie in the range of f16"),
    cl::cat(category));
static cl::opt<bool>
    printIR("print-ir", cl::desc("Print the module that would run and stop"),
            cl::cat(category));
static cl::opt<bool> quiet("quiet", cl::desc("Show no progress"),
                           cl::cat(category));

/// Copies the command line into `options`; the strings of numbers and pairs are
/// parsed here, everything else is judged by the runner.
static llvm::Error readOptions(RunnerOptions &options) {
  options.dataPaths.assign(dataFiles.begin(), dataFiles.end());
  options.program.entry = entry;
  options.program.lossScaling = lossScaling;
  options.program.masterWeights = masterWeights;
  options.program.pipeline = pipelineOptions;
  options.program.exposeGradients = gradientHistogram;
  if (threads.getNumOccurrences() && threads == 0)
    return makeError("--num-threads must be at least 1, got 0");
  options.program.threads = threads;
  options.precision = precision;
  options.compare.assign(compare.begin(), compare.end());
  if (steps.getNumOccurrences())
    options.steps = steps;
  if (epochs.getNumOccurrences())
    options.epochs = epochs;
  if (batchSize.getNumOccurrences())
    options.batchSize = batchSize;
  options.lastBatch = lastBatch;
  for (llvm::StringRef setting : settings) {
    auto [name, text] = setting.split('=');
    double value;
    if (name.empty() || text.getAsDouble(value))
      return makeError("wrong value of --set: '{0}', expected name=number",
                       setting);
    options.hyperparameters.emplace_back(name.str(), value);
  }
  options.trainPrefix = trainPrefix;
  options.evalPrefix = evalPrefix;
  options.evaluate = evaluate;
  options.predictPath = predictFile;
  options.initPath = initFile;
  options.loadPath = loadFile;
  options.otherScaler = otherScaler;
  options.savePath = saveFile;
  options.seed = seed;
  options.seedGiven = seed.getNumOccurrences();
  options.seeds = seeds;
  options.csvPath = csvFile;
  options.jsonPath = jsonFile;
  options.plotPath = plotFile;
  options.title = inputFile;
  options.gradientHistogram = gradientHistogram;
  options.printIR = printIR;
  options.showProgress = !quiet;
  return llvm::Error::success();
}

/// Memory has run out: says so without asking for more, and ends the process.
[[noreturn]] static void reportOutOfMemory(void *, const char *reason, bool) {
  for (llvm::StringRef text : {"amp-run: error: ", reason, "\n"})
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0)
      break;
  // Temporary files go.
  llvm::sys::RunInterruptHandlers();
  ::_exit(1);
}

static llvm::Error runMain(MLIRContext &context) {
  RunnerOptions options;
  if (llvm::Error error = readOptions(options))
    return error;
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputFile, &context);
  if (!module)
    return llvm::make_error<DiagnosedError>();
  if (llvm::Error error = run(*module, options))
    return error;
  if (llvm::Error error = flushStandardOutput())
    return makeError("cannot write '<stdout>': {0}",
                     llvm::toString(std::move(error)));
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  llvm::install_bad_alloc_error_handler(reportOutOfMemory);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Trains the step function of a module on the CPU\n\n"
      "  amp-run model.mlir --data digits.npz --precision fp16 --epochs 10 "
      "--eval\n");

  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::amp::registerAllExtensions(registry);
  amp::registerAllDialects(registry);
  registerExecutionDialects(registry);
  MLIRContext context(registry);
  // A diagnostic is for the reader of the model, who has the operation.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceMgr;
  SourceMgrDiagnosticHandler diagnostics(sourceMgr, &context);

  int status = 0;
  llvm::handleAllErrors(
      runMain(context), [&](const DiagnosedError &) { status = 1; },
      [&](const llvm::ErrorInfoBase &error) {
        llvm::errs() << "amp-run: error: " << error.message() << '\n';
        status = 1;
      });
  // Of a stream with an error nothing is expected any more, least of all an
  // abort when it is destroyed.
  llvm::consumeError(flushStandardOutput());
  return status;
}
