// SPDX-License-Identifier: Apache-2.0
#ifndef CPCRE2_SHIM_H
#define CPCRE2_SHIM_H

// Swift strings are UTF-8: the 8-bit library. The generic names are macros, so Swift sees the ones that end in `_8`.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
