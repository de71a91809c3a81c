import CLibAV

/// FFmpeg's libswresample, opened when the first audio gets another form. As ``CodecLibrary``, it is not linked.
enum ResampleLibrary {
    private static let library = LibraryFunctions(CLibAV_resample_file(), find: CLibAV_resample_find)

    /// nil if the library is not installed, or cannot be loaded.
    static var installed: UnsafePointer<CLibAV_resample>? { library.table }
    /// Throws where it is not, and says why.
    static func check() throws(CodecError) { try library.check() }
}

// MARK: The library's functions

func swr_alloc_set_opts2(
    _ a: UnsafeMutablePointer<OpaquePointer?>?, _ b: UnsafeMutablePointer<AVChannelLayout>?, _ c: AVSampleFormat,
    _ d: Int32, _ e: UnsafeMutablePointer<AVChannelLayout>?, _ f: AVSampleFormat, _ g: Int32, _ h: Int32,
    _ i: UnsafeMutableRawPointer?
) -> Int32 {
    ResampleLibrary.installed?.pointee.swr_alloc_set_opts2(a, b, c, d, e, f, g, h, i) ?? CodecError.noLibrary
}

func swr_init(_ a: OpaquePointer?) -> Int32 {
    ResampleLibrary.installed?.pointee.swr_init(a) ?? CodecError.noLibrary
}

func swr_free(_ a: UnsafeMutablePointer<OpaquePointer?>?) {
    // Who never resampled has none, and no need of the library.
    if a?.pointee != nil { ResampleLibrary.installed?.pointee.swr_free(a) }
}

func swr_get_out_samples(_ a: OpaquePointer?, _ b: Int32) -> Int32 {
    ResampleLibrary.installed?.pointee.swr_get_out_samples(a, b) ?? CodecError.noLibrary
}

func swr_convert(
    _ a: OpaquePointer?, _ b: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ c: Int32,
    _ d: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ e: Int32
) -> Int32 {
    ResampleLibrary.installed?.pointee.swr_convert(a, b, c, d, e) ?? CodecError.noLibrary
}
