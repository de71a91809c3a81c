import CLibAV
import HLSKitLoading

/// FFmpeg's libswresample, opened with the first audio conversion. Like ``CodecLibrary``, it is not linked.
enum ResampleLibrary {
    private static let library = LibraryFunctions(CLibAV_resample_file(), find: CLibAV_resample_find)

    static var installed: UnsafePointer<CLibAV_resample>? { library.table }
    static func check() throws(CodecError) { try library.check() }

    /// `swr_alloc_set_opts2`. Its layouts are constant in some versions, in which a function of the same name would be
    /// ambiguous.
    static func allocate(
        _ resampler: UnsafeMutablePointer<OpaquePointer?>, to layout: UnsafeMutablePointer<AVChannelLayout>,
        _ format: AVSampleFormat, _ rate: Int32, from sourceLayout: UnsafeMutablePointer<AVChannelLayout>,
        _ sourceFormat: AVSampleFormat, _ sourceRate: Int32
    ) -> Int32 {
        let functions = installed?.pointee
        return functions?.swr_alloc_set_opts2(
            resampler, layout, format, rate, sourceLayout, sourceFormat, sourceRate, 0, nil) ?? CodecError.noLibrary
    }
}

// MARK: The library's functions

func swr_init(_ a: OpaquePointer?) -> Int32 {
    ResampleLibrary.installed?.pointee.swr_init(a) ?? CodecError.noLibrary
}

func swr_free(_ a: UnsafeMutablePointer<OpaquePointer?>?) {
    // Without a resampler, the library is not needed.
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
