// SPDX-License-Identifier: Apache-2.0
#ifndef VEDETTE_CGOBJECT_H
#define VEDETTE_CGOBJECT_H

#include <glib-object.h>

#endif
