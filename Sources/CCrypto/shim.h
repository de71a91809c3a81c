#ifndef CCRYPTO_SHIM_H
#define CCRYPTO_SHIM_H
#include <openssl/err.h>
#include <openssl/evp.h>
#endif
