#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H
// The C library's types must stay those of Swift's own module (Sources/CLibAV/shim.h says more).
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif
#include <curl/curl.h>
#include <dlfcn.h>

// The functions of libcurl that are called. It is not linked: the table is filled from the library once it is open, and
// has the types of the header.
#define CCURL_FUNCTIONS(each)                                                                                          \
    each(curl_global_init) each(curl_easy_cleanup) each(curl_easy_getinfo) each(curl_easy_init) each(curl_easy_pause)  \
    each(curl_easy_setopt) each(curl_easy_strerror) each(curl_multi_add_handle) each(curl_multi_cleanup)               \
    each(curl_multi_info_read) each(curl_multi_init) each(curl_multi_perform) each(curl_multi_poll)                    \
    each(curl_multi_remove_handle) each(curl_multi_setopt) each(curl_multi_wakeup) each(curl_share_cleanup)            \
    each(curl_share_init) each(curl_share_setopt) each(curl_slist_append) each(curl_slist_free_all)
#define CCURL_FIELD(name) __typeof__(&name) name;
#define CCURL_FIND(name)                                                                                               \
    if (!(curl->name = (__typeof__(&name))dlsym(library, #name))) return 0;
typedef struct CCurl_functions {
    CCURL_FUNCTIONS(CCURL_FIELD)
} CCurl_functions;
typedef const CCurl_functions *CCurl_library;
// 0 if the library does not have all of them.
static inline int CCurl_find(CCurl_functions *curl, void *library) {
    CCURL_FUNCTIONS(CCURL_FIND)
    return 1;
}

// Its file name, the same since 2006. scripts/package reads it in the program.
static inline const char *CCurl_file(void) { return "libcurl.so.4"; }

// Variadic functions do not import; one function for each type that an option takes.
// In parentheses where curl.h has a macro of the same name (its type checks need C).

static inline CURLcode CCurl_setopt_long(CCurl_library curl, CURL *handle, CURLoption option, long value) {
    return (curl->curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_offset(CCurl_library curl, CURL *handle, CURLoption option, curl_off_t value) {
    return (curl->curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_string(CCurl_library curl, CURL *handle, CURLoption option, const char *value) {
    return (curl->curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_pointer(CCurl_library curl, CURL *handle, CURLoption option, void *value) {
    return (curl->curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_write(CCurl_library curl, CURL *handle, CURLoption option,
                                          curl_write_callback value) {
    return (curl->curl_easy_setopt)(handle, option, value);
}
static inline CURLcode CCurl_setopt_opensocket(CCurl_library curl, CURL *handle, curl_opensocket_callback value) {
    return (curl->curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode CCurl_setopt_closesocket(CCurl_library curl, CURL *handle, curl_closesocket_callback value) {
    return (curl->curl_easy_setopt)(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}
static inline CURLcode CCurl_getinfo_long(CCurl_library curl, CURL *handle, CURLINFO info, long *value) {
    return (curl->curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode CCurl_getinfo_offset(CCurl_library curl, CURL *handle, CURLINFO info, curl_off_t *value) {
    return (curl->curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode CCurl_getinfo_string(CCurl_library curl, CURL *handle, CURLINFO info, const char **value) {
    return (curl->curl_easy_getinfo)(handle, info, value);
}
// The list of the first certificate, which is the server's; NULL where there is none.
static inline const struct curl_slist *CCurl_certificate(CCurl_library curl, CURL *handle) {
    struct curl_certinfo *certificates = NULL;
    if ((curl->curl_easy_getinfo)(handle, CURLINFO_CERTINFO, &certificates) != CURLE_OK || !certificates) return NULL;
    return certificates->num_of_certs > 0 ? certificates->certinfo[0] : NULL;
}
static inline CURLMcode CCurl_multi_setopt_long(CCurl_library curl, CURLM *handle, CURLMoption option, long value) {
    return (curl->curl_multi_setopt)(handle, option, value);
}
static inline CURLSHcode CCurl_share_lock_data(CCurl_library curl, CURLSH *handle, curl_lock_data data) {
    return (curl->curl_share_setopt)(handle, CURLSHOPT_SHARE, data);
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
