// SPDX-License-Identifier: Apache-2.0
#ifndef VEDETTE_CCURL_SHIM_H
#define VEDETTE_CCURL_SHIM_H

#include <curl/curl.h>

// Swift cannot call variadic functions: one inline function for each type of argument.

static inline CURLcode cc_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode cc_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode cc_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode cc_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode cc_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
typedef size_t (*cc_write_function)(char *, size_t, size_t, void *);
static inline CURLcode cc_set_write(CURL *easy, CURLoption option, cc_write_function value) {
    return curl_easy_setopt(easy, option, value);
}
typedef curl_socket_t (*cc_opensocket_function)(void *, curlsocktype, struct curl_sockaddr *);
static inline CURLcode cc_set_opensocket(CURL *easy, cc_opensocket_function value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
typedef int (*cc_prereq_function)(void *, char *, char *, int, int);
static inline CURLcode cc_set_prereq(CURL *easy, cc_prereq_function value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
typedef CURLcode (*cc_ssl_context_function)(CURL *, void *, void *);
static inline CURLcode cc_set_ssl_context(CURL *easy, cc_ssl_context_function value) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}
// Of OpenSSL, which libcurl is linked with: its headers are in CCrypto.
struct ssl_ctx_st;
struct x509_store_st;
void SSL_CTX_set1_cert_store(struct ssl_ctx_st *context, struct x509_store_st *store);
static inline CURLcode cc_get_certificates(CURL *easy, struct curl_certinfo **value) {
    return curl_easy_getinfo(easy, CURLINFO_CERTINFO, value);
}
static inline CURLcode cc_get_string(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode cc_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode cc_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode cc_get_socket(CURL *easy, curl_socket_t *value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}
static inline CURLcode cc_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode cc_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLSHcode cc_share_data(CURLSH *share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}
/// Without this, ending a transfer whose name is being resolved would wait for the resolver's thread, and block all others.
static inline void cc_quick_exit(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}
// Swift does not import macros with casts.
static const long CC_AUTH_DIGEST = (long)CURLAUTH_DIGEST;
static const curl_socket_t CC_SOCKET_BAD = CURL_SOCKET_BAD;
// Values of CURLOPT_USE_SSL. Later versions of libcurl define them as numbers, earlier ones as enumerators: two types in Swift.
static const long CC_USE_SSL_NONE = CURLUSESSL_NONE;
static const long CC_USE_SSL_TRY = CURLUSESSL_TRY;
static const long CC_USE_SSL_ALL = CURLUSESSL_ALL;
static inline const curl_version_info_data *cc_version(void) { return curl_version_info(CURLVERSION_NOW); }
static inline int cc_resolves_in_threads(void) {
    return (cc_version()->features & CURL_VERSION_ASYNCHDNS) != 0;
}
/// Swift does not import a macro that is an expression.
static inline CURLcode cc_continue(CURL *easy) { return curl_easy_pause(easy, CURLPAUSE_CONT); }
/// Swift does not import a member of a union by its C name.
static inline CURLcode cc_result(const CURLMsg *message) { return message->data.result; }

#endif
