#ifndef CCRYPTO_SHIM_H
#define CCRYPTO_SHIM_H
// The C library's types must stay those of Swift's own module (Sources/CLibAV/shim.h says more).
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/evp.h>

// The functions of libcrypto that are called. It is not linked: the table is filled from the library once it is open, and
// has the types of the headers.
#define CCRYPTO_FUNCTIONS(each)                                                                                        \
    each(ERR_error_string_n) each(ERR_get_error) each(EVP_CIPHER_CTX_free) each(EVP_CIPHER_CTX_new)                    \
    each(EVP_CIPHER_CTX_set_padding) each(EVP_CipherInit_ex) each(EVP_CipherUpdate) each(EVP_aes_128_cbc)              \
    each(EVP_aes_128_ctr) each(EVP_Digest) each(EVP_md5) each(EVP_sha256) each(EVP_sha512_256)
#define CCRYPTO_FIELD(name) __typeof__(&name) name;
#define CCRYPTO_FIND(name)                                                                                             \
    if (!(crypto->name = (__typeof__(&name))dlsym(library, #name))) return 0;
typedef struct CCrypto_functions {
    CCRYPTO_FUNCTIONS(CCRYPTO_FIELD)
} CCrypto_functions;
typedef const CCrypto_functions *CCrypto_library;
// 0 if the library does not have all of them.
static inline int CCrypto_find(CCrypto_functions *crypto, void *library) {
    CCRYPTO_FUNCTIONS(CCRYPTO_FIND)
    return 1;
}

// Its file name, of the version that the headers are of. scripts/package reads it in the program.
#define CCRYPTO_TEXT(number) #number
#define CCRYPTO_FILE(number) "libcrypto.so." CCRYPTO_TEXT(number)
static inline const char *CCrypto_file(void) { return CCRYPTO_FILE(OPENSSL_VERSION_MAJOR); }
#endif
