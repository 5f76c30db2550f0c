// SPDX-License-Identifier: Apache-2.0
#ifndef CICAL_SHIM_H
#define CICAL_SHIM_H

#include <libical/ical.h>

// A rule of libical is a struct of more than a kilobyte, which Swift would copy as tuples.
static inline icalrecur_iterator *ci_iterator(const char *rule, struct icaltimetype start) {
    return icalrecur_iterator_new(icalrecurrencetype_from_string(rule), start);
}

#endif
