//===- Threads.cpp - The threads of a step --------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Threads.h"

#include "amp/Execution/Errors.h"
#include "amp/Runtime/Host/OutputFile.h"
#include "amp/Support/InstalledFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>
#ifdef __linux__
#include <link.h>
#include <unistd.h>
#endif

using namespace mlir::amp;

namespace {
/// The result of loading the library.
struct LoadResult {
  ThreadRuntime runtime;
  std::string error;
};
} // namespace

#ifdef __linux__
/// Stops at the OpenMP runtime of LLVM or Intel and stores its path in the
/// std::string `found`. Both runtimes have the same interface.
static int findOpenMP(dl_phdr_info *info, size_t, void *found) {
  llvm::StringRef file = llvm::sys::path::filename(info->dlpi_name);
  // A repaired wheel adds a hash to the name: libomp-1a2b3c4d.so.5.
  if (llvm::none_of(std::array{"libomp", "libiomp5"},
                    [&](llvm::StringRef name) {
                      return file.starts_with((name + ".").str()) ||
                             file.starts_with((name + "-").str());
                    }))
    return 0;
  *static_cast<std::string *>(found) = info->dlpi_name;
  return 1;
}
#endif

/// Returns the path of the OpenMP runtime that this process has already loaded,
/// or an empty string.
static std::string findLoadedRuntime() {
  std::string found;
#ifdef __linux__
  dl_iterate_phdr(findOpenMP, &found);
#endif
  return found;
}

/// Lists where the library may be, in order of preference. A loaded copy comes
/// first, because a second copy would abort the process.
static std::vector<std::string> listLibraries(const std::string &loaded) {
  std::vector<std::string> paths;
  if (!loaded.empty())
    paths.push_back(loaded);
  // A wheel contains the library next to libAMPStep.so.
  constexpr const char *name = "libomp.so.5";
  if (std::string folder = findInstalledFolder("lib", name, "");
      !folder.empty())
    paths.push_back(folder + "/" + name);
#ifdef AMP_LLVM_LIBRARY_DIR
  // Debian's package installs it in LLVM's folder, where the dynamic linker may
  // not search.
  paths.push_back(std::string(AMP_LLVM_LIBRARY_DIR) + "/" + name);
#endif
  paths.insert(paths.end(), {name, "libomp.so"});
  return paths;
}

/// Removes the file in which a killed process of the same number registered
/// LLVM's OpenMP runtime. The runtime takes it for another copy of itself in
/// this process and aborts. Call this only if the process has no copy.
static void removeStaleRegistration() {
#ifdef __linux__
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
  const std::string loaded = findLoadedRuntime();
  if (loaded.empty())
    removeStaleRegistration();
  limitSpinning();
  // The library writes a small file for other copies of itself.
  host::output::IgnoreFileSizeSignal guard;
  for (const std::string &path : listLibraries(loaded)) {
    std::string error;
    auto library =
        llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &error);
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
