// SPDX-License-Identifier: Apache-2.0
#ifndef VEDETTE_CLINUX_H
#define VEDETTE_CLINUX_H

#include <sys/vfs.h>

// Swift's Glibc module leaves out <sys/vfs.h>. Returns statfs(2)'s f_type, or 0 when it fails.
static inline long vedette_filesystem_type(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (long)status.f_type : 0;
}

#endif
