// SPDX-License-Identifier: Apache-2.0
#include "delay-load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

/// What `function` of delay-load.h defines.
struct delay_load_function {
    /// Where the calls of this function jump: to `delay_load_bind` first, then to the library's function.
    _Atomic(void *) address;
    const char *name;
    const char *library;
};

// The linker defines both: the bounds of the section `delay_load`.
extern struct delay_load_function __start_delay_load[], __stop_delay_load[];

/// Returns the library's function, and lets all later calls jump there. Two threads may do this at once: both find the same.
/// The library is never closed.
__attribute__((visibility("hidden"))) void *delay_load_resolve(struct delay_load_function *function) {
    void *library = dlopen(function->library, RTLD_LAZY | RTLD_LOCAL);
    void *address = library == NULL ? NULL : dlsym(library, function->name);
    if (address == NULL) {
        fprintf(stderr, "vedette: failed to load a library: %s. Install its package.\n", dlerror());
        _Exit(EX_UNAVAILABLE);
    }
    function->address = address;
    return address;
}

void delay_load_all(void) {
    for (struct delay_load_function *function = __start_delay_load; function < __stop_delay_load; function++) {
        delay_load_resolve(function);
    }
}
