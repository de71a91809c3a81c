#ifndef CLIBAV_SHIM_H
#define CLIBAV_SHIM_H
// The C library's types must stay those of Swift's own module: without this line the first module that includes
// <pthread.h> and its like owns them, and files that import Glibc alone lose sight of their initialisers.
#if __has_feature(modules)
#pragma clang module import SwiftGlibc
#endif
#include <errno.h>
#include "functions.h"

// Macros that do not import: their values are casts or tags.
static inline int CLibAV_error_again(void) { return AVERROR(EAGAIN); }
static inline int CLibAV_error_eof(void) { return AVERROR_EOF; }
static inline int CLibAV_error_decoder_not_found(void) { return AVERROR_DECODER_NOT_FOUND; }
static inline int CLibAV_error_errno(int number) { return AVERROR(number); }
static inline int64_t CLibAV_no_pts(void) { return AV_NOPTS_VALUE; }

// Arrays that import as tuples.
static inline uint8_t *CLibAV_frame_data(const AVFrame *frame, int plane) { return frame->data[plane]; }
static inline int CLibAV_frame_linesize(const AVFrame *frame, int plane) { return frame->linesize[plane]; }
static inline uint8_t *const *CLibAV_frame_planes(const AVFrame *frame) { return frame->data; }
static inline const int *CLibAV_frame_linesizes(const AVFrame *frame) { return frame->linesize; }
// Lets each plane of sound begin so many bytes later. Up to eight planes are listed in `data` too.
static inline void CLibAV_frame_skip(AVFrame *frame, int planes, int bytes) {
    for (int plane = 0; plane < planes; plane++) frame->extended_data[plane] += bytes;
    if (frame->extended_data == frame->data) return;
    for (int plane = 0; plane < planes && plane < AV_NUM_DATA_POINTERS; plane++) frame->data[plane] += bytes;
}

// Fields that moved between FFmpeg 5.1 and 6.1.
static inline int64_t CLibAV_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}
static inline int CLibAV_frame_is_key(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return frame->key_frame;
#endif
}
static inline int CLibAV_frame_is_interlaced(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame;
#endif
}

// How often a frame is to be turned clockwise by 90 degrees before it is shown: its display matrix. 0 takes the matrix away.
static inline int CLibAV_frame_set_quarter_turns(const CLibAV_util *util, AVFrame *frame, int turns) {
    util->av_frame_remove_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    if (turns == 0) return 0;
    AVFrameSideData *data = util->av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    if (!data) return AVERROR(ENOMEM);
    util->av_display_rotation_set((int32_t *)data->data, turns * 90.0);
    return 0;
}
static inline int CLibAV_frame_quarter_turns(const CLibAV_util *util, const AVFrame *frame) {
    const AVFrameSideData *data = util->av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    if (!data || data->size < 9 * sizeof(int32_t)) return 0;
    double turns = -util->av_display_rotation_get((const int32_t *)data->data) / 90;
    return turns >= -4.5 && turns < 4.5 ? ((int)(turns + 8.5)) % 4 : 0;
}

// The callback's buffer is const from libavformat 61 on.
typedef int (*CLibAV_write_callback)(void *opaque, const uint8_t *bytes, int count);
typedef int64_t (*CLibAV_seek_callback)(void *opaque, int64_t offset, int whence);
static inline AVIOContext *CLibAV_alloc_writer(const CLibAV_format *format, unsigned char *buffer, int size,
                                               void *opaque, CLibAV_write_callback write,
                                               CLibAV_seek_callback seek) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    return format->avio_alloc_context(buffer, size, 1, opaque, NULL, write, seek);
#else
    return format->avio_alloc_context(buffer, size, 1, opaque, NULL, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

// A demuxer's input, which is read with callbacks.
typedef int (*CLibAV_read_callback)(void *opaque, uint8_t *bytes, int count);
static inline AVIOContext *CLibAV_alloc_reader(const CLibAV_format *format, unsigned char *buffer, int size,
                                               void *opaque, CLibAV_read_callback read, CLibAV_seek_callback seek) {
    return format->avio_alloc_context(buffer, size, 0, opaque, read, NULL, seek);
}

// The side data of a stream, which moved to its parameters in FFmpeg 6.1, or NULL.
static inline const uint8_t *CLibAV_stream_side_data(const AVStream *stream, enum AVPacketSideDataType type,
                                                     int64_t *size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    const AVPacketSideData *data = stream->codecpar->coded_side_data;
    int count = stream->codecpar->nb_coded_side_data;
#else
    const AVPacketSideData *data = stream->side_data;
    int count = stream->nb_side_data;
#endif
    for (int index = 0; index < count; index++) {
        if (data[index].type != type) continue;
        *size = (int64_t)data[index].size;
        return data[index].data;
    }
    return NULL;
}

// The time of a key frame in a stream's index, or AV_NOPTS_VALUE if the entry is no key frame.
static inline int64_t CLibAV_key_time(const CLibAV_format *format, AVStream *stream, int index) {
    const AVIndexEntry *entry = format->avformat_index_get_entry(stream, index);
    return entry && (entry->flags & AVINDEX_KEYFRAME) ? entry->timestamp : AV_NOPTS_VALUE;
}
#endif
