/* Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Helpers for programs that run steps through the C interface. Include the
 * interface before this file. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends this process, which may be a child process, after an error. */
static void check(const amp_step_program *program, int32_t code) {
  if (code == AMP_STEP_OK)
    return;
  fprintf(stderr, "error %d: %s\n", code, program->last_error());
  _exit(1);
}

/* Returns the bytes of a file. The caller frees them. Ends the process after an
 * error. */
static inline char *read_file(const char *path, long *length) {
  FILE *file = fopen(path, "rb");
  char *text;
  if (!file)
    _exit(2);
  fseek(file, 0, SEEK_END);
  *length = ftell(file);
  rewind(file);
  text = (char *)malloc((size_t)*length + 1);
  if (fread(text, 1, (size_t)*length, file) != (size_t)*length)
    _exit(2);
  fclose(file);
  return text;
}

/* Copies batch argument `index` from `data` in host memory to `slot`. */
static void set_batch(const amp_step_program *program, amp_step *step,
                      int32_t slot, int32_t index, int32_t type, int32_t rank,
                      const int64_t *shape, const void *data) {
  amp_step_batch batch;
  memset(&batch, 0, sizeof(batch));
  batch.size = sizeof(batch);
  batch.slot = slot;
  batch.index = index;
  batch.memory = AMP_STEP_HOST;
  batch.type = type;
  batch.rank = rank;
  batch.shape = shape;
  batch.data = data;
  check(program, program->set_batch(step, &batch));
}
