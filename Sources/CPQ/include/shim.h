// SPDX-License-Identifier: Apache-2.0
#ifndef VEDETTE_CPQ_H
#define VEDETTE_CPQ_H

#include <postgresql/libpq-fe.h>

#endif
