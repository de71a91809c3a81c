#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H
#include <zlib.h>

// inflateInit2 is a macro that adds the version and the size of the struct.
static inline int CZlib_inflateInit2(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

#endif
