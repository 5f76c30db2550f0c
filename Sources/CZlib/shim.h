// SPDX-License-Identifier: Apache-2.0
#ifndef VEDETTE_CZLIB_SHIM_H
#define VEDETTE_CZLIB_SHIM_H

#include <zlib.h>

/// inflateInit2 is a macro. 47: gzip or zlib, told apart by their header; -15: raw deflate.
static inline int cz_inflate_init(z_streamp stream, int window_bits) { return inflateInit2(stream, window_bits); }

#endif
