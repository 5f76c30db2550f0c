// SPDX-License-Identifier: Apache-2.0
#ifndef VEDETTE_CCRYPTO_SHIM_H
#define VEDETTE_CCRYPTO_SHIM_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Flags and functions that are macros are not seen from Swift.

/// `CN=host, O=owner` in UTF-8, control characters escaped.
static inline int cy_print_name(BIO *bio, const X509_NAME *name) {
    unsigned long flags = XN_FLAG_SEP_CPLUS_SPC | XN_FLAG_FN_SN | (ASN1_STRFLGS_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    return X509_NAME_print_ex(bio, name, 0, flags);
}
static inline void cy_free(void *memory) { OPENSSL_free(memory); }

#endif
