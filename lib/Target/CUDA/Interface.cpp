//===- Interface.cpp - The C interface of a program -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

using namespace mlir;
using namespace mlir::cuda;

/// Replaces each `@` by `prefix`.
static std::string instantiate(StringRef text, StringRef prefix) {
  std::string result;
  for (char c : text) {
    if (c == '@')
      result += prefix;
    else
      result += c;
  }
  return result;
}

static constexpr StringLiteral kTypes = R"(
/// An instance: a device arena and the state in it. Not thread-safe.
typedef struct @_t @_t;

typedef struct @_options {
  int device;             /* number of the GPU */
  unsigned long long seed; /* seed of initial values */
  int no_graph;           /* launch each kernel by itself in every step */
  int poison;             /* fill temporaries with NaN before each step */
  int tune;               /* time the algorithms of products at creation */
  const char *tune_cache; /* file of the fastest algorithms; may be null */
  int other_scaler;       /* load states of other rules of loss scaling */
  int other_batch_size;   /* load states of runs with another batch size */
} @_options;
)";

static constexpr StringLiteral kFunctions = R"(
/// Each returns 0, or an error code. @_last_error then returns the message.
int @_create(@_t **out, const @_options *options);
/// Replaces the state by that of a file of amp-run or of @_save. It is an error
/// if the file has another graph, precision, batch size or other rules of loss
/// scaling. Nothing changes after an error.
int @_load(@_t *step, const char *path);
int @_save(@_t *step, const char *path);
/// Copies a batch to the device. It has exactly the size of batch `index`. The
/// caller may reuse `host` afterwards.
int @_set_batch(@_t *step, int index, const void *host, size_t bytes);
int @_set_hyperparameter(@_t *step, const char *name, double value);
/// Enqueues steps and does not wait. A negative number is an error.
int @_run(@_t *step, int n_steps);
/// Waits and reads all metrics of the last step, in the order of their indices.
/// It is an error if `n` is not their number.
int @_read_metrics(@_t *step, float *out, int n);

void @_destroy(@_t *step);
/// Bytes of device memory that an instance takes.
long long @_memory_bytes(void);
const char *@_last_error(void);
)";

static constexpr StringLiteral kDefinitions = R"(
//===-- C interface -------------------------------------------------===//

struct @_t : Program {
  using Program::Program;
};

extern "C" {
int @_create(@_t **out, const @_options *options) {
  return reportCall([&] {
    if (!out)
      return Status(kInvalidArgument, "no place for the instance");
    *out = nullptr;
    ProgramOptions settings;
    if (options) {
      settings.device = options->device;
      settings.seed = options->seed;
      settings.useGraph = !options->no_graph;
      settings.poison = options->poison != 0;
      settings.gemm.tune = options->tune != 0;
      settings.otherScaler = options->other_scaler != 0;
      settings.otherBatchSize = options->other_batch_size != 0;
      if (options->tune_cache)
        settings.gemm.cachePath = options->tune_cache;
    }
    auto step = std::make_unique<@_t>(kProgram);
    Status status = step->create(settings);
    if (status.isOk())
      *out = step.release();
    return status;
  });
}
int @_load(@_t *step, const char *path) {
  return reportCall([&] {
    if (!step || !path)
      return Status(kInvalidArgument, "no instance or no path");
    return step->load(path);
  });
}
int @_save(@_t *step, const char *path) {
  return reportCall([&] {
    if (!step || !path)
      return Status(kInvalidArgument, "no instance or no path");
    return step->save(path);
  });
}
int @_set_batch(@_t *step, int index, const void *host, size_t bytes) {
  return reportCall([&] {
    if (!step || !host)
      return Status(kInvalidArgument, "no instance or no data");
    return step->setBatch(index, host, bytes);
  });
}
int @_set_hyperparameter(@_t *step, const char *name, double value) {
  return reportCall([&] {
    if (!step || !name)
      return Status(kInvalidArgument, "no instance or no name");
    return step->setHyperparameter(name, value);
  });
}
int @_run(@_t *step, int n_steps) {
  return reportCall([&] {
    if (!step)
      return Status(kInvalidArgument, "no instance");
    return step->run(n_steps);
  });
}
int @_read_metrics(@_t *step, float *out, int n) {
  return reportCall([&] {
    if (!step || !out)
      return Status(kInvalidArgument, "no instance or no place");
    return step->readMetrics(out, n);
  });
}
void @_destroy(@_t *step) { delete step; }
long long @_memory_bytes(void) { return kProgram.arenaBytes; }
const char *@_last_error(void) { return lastError(); }
} // extern "C"
)";

void mlir::cuda::emitHeader(ProgramOp program, std::string &text) {
  std::string prefix = getPrefix(program), guard = StringRef(prefix).upper();
  llvm::raw_string_ostream os(text);
  os << "/* Generated by amp-translate --mlir-to-cuda: the C interface of '"
     << getCommentText(program.getSymName()) << "'. */\n"
     << "#ifndef " << guard << "_H\n#define " << guard << "_H\n\n"
     << "#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
     << instantiate(kTypes, prefix);
  // Enumerate batches and metrics.
  for (StringRef role : {"batch", "metric"}) {
    os << "\n/* " << (role == "batch" ? "Batches" : "Metrics")
       << ", by index. */\nenum {\n";
    unsigned index = 0;
    // Names may differ only in case.
    Identifiers enumerators;
    for (auto buffer : program.getBody().front().getOps<BufferOp>())
      if (buffer.getRole() == role)
        os << "  "
           << enumerators.make(
                  guard + "_" + role.upper() + "_" +
                  StringRef(getIdentifier(buffer.getName())).upper())
           << " = " << index++ << ", /* " << describe(buffer.getType())
           << " */\n";
    os << "  " << guard << "_NUM_" << role.upper()
       << (role == "batch" ? "ES" : "S") << " = " << index << "\n};\n";
  }
  os << instantiate(kFunctions, prefix)
     << "\n#ifdef __cplusplus\n}\n#endif\n#endif /* " << guard << "_H */\n";
}

LogicalResult mlir::cuda::emitCUDA(ProgramOp program,
                                   const EmitterOptions &options,
                                   std::string &text) {
  llvm::raw_string_ostream os(text);
  if (failed(ProgramEmitter(program, options, os).emit()))
    return failure();
  std::string prefix = getPrefix(program);
  if (options.header.empty()) {
    os << "extern \"C\" {" << instantiate(kTypes, prefix) << "}\n";
  } else {
    os << "#include " << quote(options.header) << "\n";
  }
  os << instantiate(kDefinitions, prefix);
  if (!options.emitMain)
    return success();
  os << "\n";
  if (options.forward &&
      failed(ProgramEmitter(options.forward, options, os).emitForward()))
    return failure();
  os << "\nint main(int argc, char **argv) {\n"
     << "  return trainerMain(argc, argv, kProgram"
     << (options.forward ? ", forward::kForward" : "") << ");\n}\n";
  return success();
}

/// Quotes an argument for CMake.
static std::string quoteForCMake(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (StringRef("\\\"$").contains(c))
      result += '\\';
    result += c;
  }
  return result + "\"";
}

void mlir::cuda::emitCMake(ProgramOp program, StringRef source, bool hasMain,
                           bool strictRounding, std::string &text) {
  std::string prefix = getPrefix(program);
  llvm::raw_string_ostream os(text);
  os << "# Generated by amp-translate --mlir-to-cuda.\n"
     << "cmake_minimum_required(VERSION 3.25)\n\n"
     << "# The language would take nvcc's own default, which is too old.\n"
     << "if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED "
        "ENV{CUDAARCHS})\n"
     << "  set(CMAKE_CUDA_ARCHITECTURES 80 90)\nendif()\n"
     << "project(" << prefix << " LANGUAGES CXX CUDA)\n\n"
     << "find_package(CUDAToolkit REQUIRED)\n"
     << "set(AMP_INCLUDE_DIR \"\" CACHE PATH\n"
     << "    \"Folder that holds amp/Runtime; not needed for a standalone "
        "source\")\n\n"
     << (hasMain ? "add_executable(" : "add_library(") << prefix
     << (hasMain ? " " : " SHARED ") << quoteForCMake(source) << ")\n"
     << "target_compile_features(" << prefix << " PRIVATE cxx_std_17 "
     << "cuda_std_17)\n"
     << "target_compile_options(" << prefix
     << " PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>"
     << (strictRounding ? "\n    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>" : "")
     << ")\n"
     << "target_include_directories(" << prefix
     << " PRIVATE ${AMP_INCLUDE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})\n"
     << "target_link_libraries(" << prefix
     << " PRIVATE CUDA::cublasLt ${CMAKE_DL_LIBS})\n\n"
     << "# Compressed members of .npz files.\nfind_package(ZLIB)\n"
     << "if(ZLIB_FOUND)\n  target_compile_definitions(" << prefix
     << " PRIVATE AMP_HOST_ZLIB)\n  target_link_libraries(" << prefix
     << " PRIVATE ZLIB::ZLIB)\nendif()\n";
}
