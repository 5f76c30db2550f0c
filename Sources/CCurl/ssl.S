// SPDX-License-Identifier: Apache-2.0
#include "delay-load.h"

    library "libssl.so.3"
    function SSL_CTX_set1_cert_store
