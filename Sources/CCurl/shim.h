#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
#include <curl/curl.h>

// Variadic functions do not import; one function for each type that an option takes.
// In parentheses where curl.h has a macro of the same name (its type checks need C).

static inline CURLcode CCurl_setopt_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_write(CURL *handle, CURLoption option, curl_write_callback value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_opensocket(CURL *handle, curl_opensocket_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode CCurl_setopt_closesocket(CURL *handle, curl_closesocket_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}
static inline CURLcode CCurl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode CCurl_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode CCurl_getinfo_string(CURL *handle, CURLINFO info, const char **value) {
    return (curl_easy_getinfo)(handle, info, value);
}
// The list of the first certificate, which is the server's; NULL where there is none.
static inline const struct curl_slist *CCurl_certificate(CURL *handle) {
    struct curl_certinfo *certificates = NULL;
    if ((curl_easy_getinfo)(handle, CURLINFO_CERTINFO, &certificates) != CURLE_OK || !certificates) return NULL;
    return certificates->num_of_certs > 0 ? certificates->certinfo[0] : NULL;
}
static inline CURLMcode CCurl_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
    return (curl_multi_setopt)(handle, option, value);
}
static inline CURLSHcode CCurl_share_lock_data(CURLSH *handle, curl_lock_data data) {
    return (curl_share_setopt)(handle, CURLSHOPT_SHARE, data);
}

// The union of CURLMsg has a member without a name that Swift could rely on across versions.
static inline CURLcode CCurl_message_result(const CURLMsg *message) { return message->data.result; }

// The sockaddr is the last member of a struct that grows; its bytes are read here.
static inline const struct sockaddr *CCurl_sockaddr(const struct curl_sockaddr *address) { return &address->addr; }

// An enumeration in curl 7.88, macros in 8.14: the value is the same.
static const long CCurl_netrc_optional = CURL_NETRC_OPTIONAL;

// Macros with casts do not import.
static const curl_socket_t CCurl_socket_bad = CURL_SOCKET_BAD;
static const long CCurl_global_all = CURL_GLOBAL_ALL;

#endif
