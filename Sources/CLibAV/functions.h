#ifndef CLIBAV_FUNCTIONS_H
#define CLIBAV_FUNCTIONS_H
// The functions of FFmpeg's libraries that are called. Nothing is linked: a table of each library's functions is filled
// from the library once it is open, and has their types from the headers.
#include <dlfcn.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <libavutil/murmur3.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/spherical.h>
#include <libavutil/stereo3d.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

#define CLIBAV_UTIL_FUNCTIONS(each)                                                                                    \
    each(av_buffer_create) each(av_dict_free) each(av_dict_get) each(av_dict_set) each(av_free) each(av_freep) each(av_log_get_level)    \
    each(av_log_set_level) each(av_malloc) each(av_mallocz) each(av_md5_alloc) each(av_md5_final) each(av_md5_init)    \
    each(av_md5_update) each(av_murmur3_alloc) each(av_murmur3_final) each(av_murmur3_init) each(av_murmur3_update)    \
    each(av_opt_set) each(av_rescale) each(av_rescale_q) each(av_strerror)                         \
    each(av_frame_alloc) each(av_frame_apply_cropping) each(av_frame_clone) each(av_frame_copy_props)                  \
    each(av_frame_free) each(av_frame_get_buffer) each(av_frame_get_side_data) each(av_frame_move_ref)                 \
    each(av_frame_new_side_data) each(av_frame_ref) each(av_frame_remove_side_data) each(av_frame_unref)               \
    each(av_content_light_metadata_create_side_data) each(av_mastering_display_metadata_create_side_data)              \
    each(av_display_rotation_get) each(av_display_rotation_set)                                                        \
    each(av_get_pix_fmt) each(av_get_pix_fmt_name) each(av_image_get_linesize) each(av_pix_fmt_count_planes)           \
    each(av_pix_fmt_desc_get)                                                                                          \
    each(av_channel_layout_copy) each(av_channel_layout_default) each(av_channel_layout_describe)                      \
    each(av_channel_layout_uninit) each(av_get_bytes_per_sample) each(av_get_sample_fmt_name)                          \
    each(av_sample_fmt_is_planar) each(av_samples_set_silence)

#define CLIBAV_SCALE_FUNCTIONS(each)                                                                                   \
    each(sws_freeContext) each(sws_getCachedContext) each(sws_getCoefficients) each(sws_getContext) each(sws_scale)    \
    each(sws_setColorspaceDetails)

#define CLIBAV_RESAMPLE_FUNCTIONS(each)                                                                                \
    each(swr_alloc_set_opts2) each(swr_convert) each(swr_free) each(swr_get_out_samples) each(swr_init)

#define CLIBAV_CODEC_FUNCTIONS(each)                                                                                   \
    each(avcodec_version) each(avcodec_get_name) each(avcodec_find_decoder_by_name) each(avcodec_find_encoder_by_name)                        \
    each(avcodec_alloc_context3) each(avcodec_free_context) each(avcodec_open2) each(avcodec_flush_buffers)            \
    each(avcodec_send_packet) each(avcodec_receive_frame) each(avcodec_send_frame) each(avcodec_receive_packet)        \
    each(av_packet_alloc) each(av_packet_free) each(av_packet_unref) each(av_packet_get_side_data)                     \
    each(av_bsf_get_by_name) each(av_bsf_alloc) each(av_bsf_init) each(av_bsf_free) each(av_bsf_send_packet)           \
    each(av_bsf_receive_packet)

#define CLIBAV_FORMAT_FUNCTIONS(each)                                                                                  \
    each(avformat_version) each(avformat_alloc_output_context2) each(avformat_free_context) each(avformat_new_stream)  \
    each(av_stream_new_side_data) each(avformat_write_header) each(av_interleaved_write_frame)                         \
    each(av_find_input_format) each(avformat_alloc_context) each(avformat_open_input) each(avformat_close_input)       \
    each(avformat_find_stream_info) each(av_read_frame) each(av_seek_frame)                                            \
    each(avformat_index_get_entries_count) each(avformat_index_get_entry)                                              \
    each(av_write_trailer) each(avio_alloc_context) each(avio_context_free) each(avio_flush)

// The file names of the libraries, with the versions that the headers are of. scripts/package reads them in the program.
static inline const char *CLibAV_util_file(void) { return "libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR); }
static inline const char *CLibAV_scale_file(void) { return "libswscale.so." AV_STRINGIFY(LIBSWSCALE_VERSION_MAJOR); }
static inline const char *CLibAV_resample_file(void) { return "libswresample.so." AV_STRINGIFY(LIBSWRESAMPLE_VERSION_MAJOR); }
static inline const char *CLibAV_codec_file(void) { return "libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR); }
static inline const char *CLibAV_format_file(void) { return "libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR); }

// A table, and the function that fills it: 0 if the library does not have all of them.
#define CLIBAV_FIELD(name) __typeof__(&name) name;
#define CLIBAV_FIND(name)                                                                                              \
    if (!(functions->name = (__typeof__(&name))dlsym(library, #name))) return 0;
#define CLIBAV_TABLE(table, functions_of_it)                                                                           \
    typedef struct table {                                                                                             \
        functions_of_it(CLIBAV_FIELD)                                                                                  \
    } table;                                                                                                           \
    static inline int table##_find(table *functions, void *library) {                                                  \
        functions_of_it(CLIBAV_FIND) return 1;                                                                         \
    }

CLIBAV_TABLE(CLibAV_util, CLIBAV_UTIL_FUNCTIONS)
CLIBAV_TABLE(CLibAV_scale, CLIBAV_SCALE_FUNCTIONS)
CLIBAV_TABLE(CLibAV_resample, CLIBAV_RESAMPLE_FUNCTIONS)
CLIBAV_TABLE(CLibAV_codec, CLIBAV_CODEC_FUNCTIONS)
CLIBAV_TABLE(CLibAV_format, CLIBAV_FORMAT_FUNCTIONS)
#endif
