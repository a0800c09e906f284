//===- capi.c - The C API, used from C --------------------------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// clang-format off
// RUN: amp-capi-test %amp_src_root/docs/examples/one-layer.mlir %S/../JAX/Inputs/mlp.mlir | FileCheck %s
// clang-format on
//
//===----------------------------------------------------------------------===//

#include "amp-c/Dialects.h"
#include "amp-c/Passes.h"
#include "amp-c/Pipeline.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MlirStringRef text(const char *string) {
  return mlirStringRefCreateFromCString(string);
}

/* A string that callbacks append to. */
struct Buffer {
  char *data;
  size_t size;
};

static void append(MlirStringRef piece, void *userData) {
  struct Buffer *buffer = userData;
  buffer->data = realloc(buffer->data, buffer->size + piece.length + 1);
  if (!buffer->data)
    abort();
  memcpy(buffer->data + buffer->size, piece.data, piece.length);
  buffer->size += piece.length;
  buffer->data[buffer->size] = 0;
}

static int contains(const struct Buffer *buffer, const char *wanted) {
  return buffer->data && strstr(buffer->data, wanted) != NULL;
}

/* Counts and prints diagnostics. */
static MlirLogicalResult diagnose(MlirDiagnostic diagnostic, void *userData) {
  struct Buffer message = {NULL, 0};
  mlirDiagnosticPrint(diagnostic, append, &message);
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError) {
    ++*(int *)userData;
    printf("callback: %s\n", message.data);
  }
  free(message.data);
  return mlirLogicalResultSuccess();
}

static char *readFile(const char *path) {
  struct Buffer content = {NULL, 0};
  char chunk[4096];
  size_t count;
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  while ((count = fread(chunk, 1, sizeof chunk, file)) != 0)
    append(mlirStringRefCreate(chunk, count), &content);
  fclose(file);
  return content.data;
}

static struct Buffer print(MlirModule module) {
  struct Buffer output = {NULL, 0};
  mlirOperationPrint(mlirModuleGetOperation(module), append, &output);
  return output;
}

/* One run of the pipeline on a fresh copy of `source`. */
static void run(MlirContext context, const char *source, const char *policy,
                const char *options) {
  struct Buffer before, after, report = {NULL, 0};
  int errors = 0;
  MlirModule module = mlirModuleCreateParse(context, text(source));
  MlirLogicalResult result;
  if (mlirModuleIsNull(module))
    exit(1);
  before = print(module);
  result = ampRunTrainingPipeline(module, text(policy), text(options), diagnose,
                                  &errors, append, &report);
  after = print(module);
  printf("policy '%s' options '%s': %s, %d errors, %s, report of %s\n", policy,
         options, mlirLogicalResultIsSuccess(result) ? "success" : "failure",
         errors, strcmp(before.data, after.data) ? "changed" : "unchanged",
         contains(&report, "\"functions\"") ? "functions" : "nothing");
  printf("f16: %d, bf16: %d, unscale: %d\n", contains(&after, "xf16>"),
         contains(&after, "bf16>") != 0, contains(&after, "amp.unscale"));
  free(before.data);
  free(after.data);
  free(report.data);
  mlirModuleDestroy(module);
}

/* The passes themselves, by name and by function. */
static void runPasses(MlirContext context, const char *source) {
  MlirModule module = mlirModuleCreateParse(context, text(source));
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  struct Buffer problem = {NULL, 0}, output;
  mlirPassManagerAddOwnedPass(manager, mlirCreateTrainTrainAutodiff());
  if (mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(
          passes, text("auto-mixed-precision{precision=bf16}"), append,
          &problem)))
    printf("pipeline: %s\n", problem.data);
  mlirPassManagerAddOwnedPass(manager, mlirCreateAMPOptimizeCastsPass());
  if (mlirLogicalResultIsFailure(
          mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))))
    printf("the passes failed\n");
  output = print(module);
  printf("passes: gradients %d, bf16 %d\n",
         contains(&output, "amp.gradient_of"), contains(&output, "bf16>"));
  free(problem.data);
  free(output.data);
  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
}

int main(int argc, char **argv) {
  MlirDialectRegistry registry;
  MlirContext context;
  MlirDialectHandle train = mlirGetDialectHandle__train__();
  MlirStringRef name = mlirDialectHandleGetNamespace(train);
  char *source = argc == 3 ? readFile(argv[1]) : NULL;
  char *dump = argc == 3 ? readFile(argv[2]) : NULL;
  if (!source || !dump) {
    fprintf(stderr, "usage: amp-capi-test <step.mlir> <dump of JAX>\n");
    return 1;
  }

  context = mlirContextCreateWithThreading(false);
  /* A dialect by its handle. */
  mlirDialectHandleRegisterDialect(train, context);
  printf("loaded before: %d\n",
         (int)mlirContextGetNumLoadedDialects(context) - 1);
  mlirDialectHandleLoadDialect(train, context);
  /* CHECK: loaded before: 0
   * CHECK: handle train: loaded
   */
  printf("handle %.*s: %s\n", (int)name.length, name.data,
         mlirDialectIsNull(mlirContextGetOrLoadDialect(context, name))
             ? "missing"
             : "loaded");

  /* All of them. */
  registry = mlirDialectRegistryCreate();
  ampRegisterAllDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  ampRegisterAllPasses();

  /* CHECK: policy 'default' options 'precision=fp16': success, 0 errors,
   * changed, report of functions CHECK: f16: 1, bf16: 0, unscale: 1
   */
  run(context, source, "default", "precision=fp16");
  /* A policy as a string, in braces and as a document.
   * CHECK: policy '{version: 1, extends: default, precision: bf16}' options '':
   * success, 0 errors, changed, report of functions CHECK: bf16: 1, unscale: 0
   */
  run(context, source, "{version: 1, extends: default, precision: bf16}", "");
  /* CHECK: options 'precision=bf16': success, 0 errors, changed, report of
   * functions CHECK: f16: 0, bf16: 0, unscale: 0
   */
  run(context, source,
      "version: 1\nextends: default\ndeny: [train.linear, train.matmul]\n",
      "precision=bf16");

  /* What is wrong comes to the callback, and the module stays as it was.
   * CHECK: callback: policy: unknown key 'lists'
   * CHECK: failure, 1 errors, unchanged, report of nothing
   */
  run(context, source, "{version: 1, extends: default, lists: 3}", "");
  /* CHECK: callback: {{.*}}no-such-preset
   * CHECK: failure, 1 errors, unchanged, report of nothing
   */
  run(context, source, "no-such-preset", "");
  /* CHECK: callback: {{.*}}unknown option 'precisoin', did you mean 'precision'
   * CHECK: failure, 1 errors, unchanged, report of nothing
   */
  run(context, source, "default", "precisoin=fp16");
  /* A failure behind the first pass.
   * CHECK: callback: {{.*}}unknown precision 'fp12'
   * CHECK: failure, 1 errors, unchanged, report of nothing
   */
  run(context, source, "default", "precision=fp12");
  /* CHECK: callback: the options of amp-training-pipeline contain the policy
   * CHECK: failure, 1 errors, unchanged, report of nothing
   */
  run(context, source, "default", "policy=pytorch");

  /* CHECK: passes: gradients 1, bf16 1
   */
  runPasses(context, source);

  /* A step of JAX, in one call; its scale is proved to be handled right.
   * CHECK: policy 'stablehlo' options 'precision=fp16': success, 0 errors
   * CHECK: f16: 1, bf16: 0, unscale: 1
   */
  mlirContextSetAllowUnregisteredDialects(context, true);
  run(context, dump, "stablehlo", "precision=fp16");

  free(source);
  free(dump);
  mlirContextDestroy(context);
  /* CHECK: done
   */
  printf("done\n");
  return 0;
}
