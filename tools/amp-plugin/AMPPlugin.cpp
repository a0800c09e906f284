//===- AMPPlugin.cpp - The entry point of the plugin ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points of `--load-dialect-plugin` and `--load-pass-plugin`. This
// library does not link LLVM. A plugin that is linked to one LLVM would crash a
// tool with another version before it reaches an entry point. The library
// checks that the tool uses the MLIR of the passes. Only then does it load the
// library next to it, which contains the passes.
//
//===----------------------------------------------------------------------===//

#include "AMPPlugin.h"

#include <cstdio>
#include <string>

#include <dlfcn.h>

/// Returns the file that the code or data at `address` was loaded from.
static std::string getFile(const void *address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

/// Returns the result of the function `name` of the library with the passes for
/// `caller`, or an API version that makes the tool refuse the plugin.
static AMPPluginInfo load(const char *name, const void *caller) {
  AMPPluginInfo refuse = {AMP_PLUGIN_REFUSE, "AMP", AMP_VERSION_STRING,
                          nullptr};
  if (!dlopen(AMP_MLIR_LIBRARY, RTLD_LAZY | RTLD_NOLOAD)) {
    std::fprintf(stderr,
                 "error: AMPPlugin uses MLIR %s in '%s', but '%s', which loads "
                 "it, does not; expected a tool that is linked to that "
                 "library\n",
                 AMP_MLIR_VERSION, AMP_MLIR_LIBRARY, getFile(caller).c_str());
    return refuse;
  }
  std::string self = getFile(reinterpret_cast<const void *>(&load));
  std::string passes =
      self.substr(0, self.rfind('/') + 1) + "AMPPluginPasses.so";
  void *library = dlopen(passes.c_str(), RTLD_LAZY | RTLD_LOCAL);
  void *function = library ? dlsym(library, name) : nullptr;
  if (!function) {
    std::fprintf(stderr,
                 "error: AMPPlugin cannot load the passes, expected them in "
                 "'%s': %s\n",
                 passes.c_str(), dlerror());
    return refuse;
  }
  return reinterpret_cast<AMPPluginInfo (*)(const void *)>(function)(caller);
}

extern "C" {
AMPPluginInfo mlirGetDialectPluginInfo() {
  return load("ampGetDialectPluginInfo", __builtin_return_address(0));
}
AMPPluginInfo mlirGetPassPluginInfo() {
  return load("ampGetPassPluginInfo", __builtin_return_address(0));
}
}
