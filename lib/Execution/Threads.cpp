//===- Threads.cpp - The threads of a step --------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Threads.h"

#include "amp/Execution/Errors.h"
#include "amp/Runtime/Host/OutputFile.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <algorithm>
#include <cstdlib>
#ifdef __linux__
#include <link.h>
#include <unistd.h>
#endif

using namespace mlir::amp;

/// Debian's package installs it in LLVM's folder, where the dynamic linker may
/// not search.
static constexpr const char *kLibraries[] = {
    AMP_LLVM_LIBRARY_DIR "/libomp.so.5", "libomp.so.5", "libomp.so"};

namespace {
/// The result of loading the library.
struct LoadResult {
  ThreadRuntime runtime;
  std::string error;
};
} // namespace

#ifdef __linux__
static int isOpenMP(dl_phdr_info *info, size_t, void *) {
  llvm::StringRef file = llvm::sys::path::filename(info->dlpi_name);
  return file.starts_with("libomp") || file.starts_with("libiomp");
}
#endif

/// Removes the file in which a killed process of the same number registered
/// LLVM's OpenMP runtime. The runtime takes it for another copy of itself in
/// this process and aborts. A process that already holds a copy keeps its file.
static void removeStaleRegistration() {
#ifdef __linux__
  if (dl_iterate_phdr(isOpenMP, nullptr) != 0)
    return;
  for (llvm::StringRef folder : {"/dev/shm", "/tmp"})
    (void)llvm::sys::fs::remove(
        llvm::formatv("{0}/__KMP_REGISTERED_LIB_{1}_{2}", folder,
                      llvm::sys::Process::getProcessId(), getuid())
            .str());
#endif
}

/// Makes waiting threads sleep soon, unless the user chose otherwise. By
/// default they spin for 200 ms, and a thread that has used up its time on a
/// busy machine gets a processor later than one that slept.
static void limitSpinning() {
#ifdef __linux__
  if (!::getenv("KMP_BLOCKTIME") && !::getenv("OMP_WAIT_POLICY"))
    ::setenv("KMP_BLOCKTIME", "100us", /*overwrite=*/0);
#endif
}

static LoadResult loadRuntime() {
  LoadResult result;
  removeStaleRegistration();
  limitSpinning();
  // The library writes a small file for other copies of itself.
  host::output::IgnoreFileSizeSignal guard;
  for (const char *path : kLibraries) {
    std::string error;
    auto library = llvm::sys::DynamicLibrary::getPermanentLibrary(path, &error);
    void *symbol = library.isValid()
                       ? library.getAddressOfSymbol("omp_get_max_threads")
                       : nullptr;
    if (!symbol) {
      result.error = error;
      continue;
    }
    int threads = reinterpret_cast<int (*)()>(symbol)();
    result.runtime.path = path;
    result.runtime.threads =
        std::clamp<int>(threads, 1, static_cast<int>(kMaxThreads));
    return result;
  }
  return result;
}

llvm::Expected<ThreadRuntime> mlir::amp::getThreadRuntime() {
  static const LoadResult result = loadRuntime();
  if (result.runtime.path.empty())
    return makeError("OpenMP's runtime library cannot be loaded: {0}",
                     result.error);
  return result.runtime;
}

llvm::Expected<unsigned> mlir::amp::chooseThreads(unsigned threads) {
  if (threads > kMaxThreads)
    return makeError("a step has at most {0} threads, got {1}", kMaxThreads,
                     threads);
  if (threads == 1)
    return 1;
  llvm::Expected<ThreadRuntime> runtime = getThreadRuntime();
  if (runtime)
    return threads == 0 ? runtime->threads : threads;
  if (threads != 0)
    return runtime.takeError();
  llvm::consumeError(runtime.takeError());
  return 1;
}
