import CLibAV

private var util: UnsafePointer<CLibAV_util>? { UtilLibrary.installed }

func av_frame_alloc() -> UnsafeMutablePointer<AVFrame>? { util?.pointee.av_frame_alloc() }

func av_frame_free(_ a: UnsafeMutablePointer<UnsafeMutablePointer<AVFrame>?>?) { util?.pointee.av_frame_free(a) }

func av_frame_clone(_ a: UnsafePointer<AVFrame>?) -> UnsafeMutablePointer<AVFrame>? { util?.pointee.av_frame_clone(a) }

func av_frame_ref(_ a: UnsafeMutablePointer<AVFrame>?, _ b: UnsafePointer<AVFrame>?) -> Int32 {
    util?.pointee.av_frame_ref(a, b) ?? CodecError.noLibrary
}

func av_frame_unref(_ a: UnsafeMutablePointer<AVFrame>?) { util?.pointee.av_frame_unref(a) }

func av_frame_move_ref(_ a: UnsafeMutablePointer<AVFrame>?, _ b: UnsafeMutablePointer<AVFrame>?) {
    util?.pointee.av_frame_move_ref(a, b)
}

func av_frame_get_buffer(_ a: UnsafeMutablePointer<AVFrame>?, _ b: Int32) -> Int32 {
    util?.pointee.av_frame_get_buffer(a, b) ?? CodecError.noLibrary
}

@discardableResult
func av_frame_copy_props(_ a: UnsafeMutablePointer<AVFrame>?, _ b: UnsafePointer<AVFrame>?) -> Int32 {
    util?.pointee.av_frame_copy_props(a, b) ?? CodecError.noLibrary
}

func av_frame_apply_cropping(_ a: UnsafeMutablePointer<AVFrame>?, _ b: Int32) -> Int32 {
    util?.pointee.av_frame_apply_cropping(a, b) ?? CodecError.noLibrary
}

// MARK: What is noted in a frame

func av_frame_get_side_data(
    _ a: UnsafePointer<AVFrame>?, _ b: AVFrameSideDataType
) -> UnsafeMutablePointer<AVFrameSideData>? {
    util?.pointee.av_frame_get_side_data(a, b)
}

func av_frame_remove_side_data(_ a: UnsafeMutablePointer<AVFrame>?, _ b: AVFrameSideDataType) {
    util?.pointee.av_frame_remove_side_data(a, b)
}

func av_mastering_display_metadata_create_side_data(
    _ a: UnsafeMutablePointer<AVFrame>?
) -> UnsafeMutablePointer<AVMasteringDisplayMetadata>? {
    util?.pointee.av_mastering_display_metadata_create_side_data(a)
}

func av_content_light_metadata_create_side_data(
    _ a: UnsafeMutablePointer<AVFrame>?
) -> UnsafeMutablePointer<AVContentLightMetadata>? {
    util?.pointee.av_content_light_metadata_create_side_data(a)
}
