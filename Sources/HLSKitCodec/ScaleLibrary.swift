import CLibAV
import HLSKitLoading

/// FFmpeg's libswscale, opened with the first change of size or pixel format. Like ``CodecLibrary``, it is not linked.
enum ScaleLibrary {
    typealias Filter = UnsafeMutablePointer<SwsFilter>

    private static let library = LibraryFunctions(CLibAV_scale_file(), find: CLibAV_scale_find)

    static var installed: UnsafePointer<CLibAV_scale>? { library.table }
    static func check() throws(CodecError) { try library.check() }
}

// MARK: The library's functions

func sws_getContext(
    _ a: Int32, _ b: Int32, _ c: AVPixelFormat, _ d: Int32, _ e: Int32, _ f: AVPixelFormat, _ g: Int32,
    _ h: ScaleLibrary.Filter?, _ i: ScaleLibrary.Filter?, _ j: UnsafePointer<Double>?
) -> OpaquePointer? {
    ScaleLibrary.installed?.pointee.sws_getContext(a, b, c, d, e, f, g, h, i, j)
}

func sws_getCachedContext(
    _ a: OpaquePointer?, _ b: Int32, _ c: Int32, _ d: AVPixelFormat, _ e: Int32, _ f: Int32, _ g: AVPixelFormat,
    _ h: Int32, _ i: ScaleLibrary.Filter?, _ j: ScaleLibrary.Filter?, _ k: UnsafePointer<Double>?
) -> OpaquePointer? {
    ScaleLibrary.installed?.pointee.sws_getCachedContext(a, b, c, d, e, f, g, h, i, j, k)
}

func sws_freeContext(_ a: OpaquePointer?) {
    // Without a scaler, the library is not needed.
    if a != nil { ScaleLibrary.installed?.pointee.sws_freeContext(a) }
}

func sws_getCoefficients(_ a: Int32) -> UnsafePointer<Int32>? {
    ScaleLibrary.installed?.pointee.sws_getCoefficients(a)
}

@discardableResult
func sws_setColorspaceDetails(
    _ a: OpaquePointer?, _ b: UnsafePointer<Int32>?, _ c: Int32, _ d: UnsafePointer<Int32>?, _ e: Int32, _ f: Int32,
    _ g: Int32, _ h: Int32
) -> Int32 {
    ScaleLibrary.installed?.pointee.sws_setColorspaceDetails(a, b, c, d, e, f, g, h) ?? CodecError.noLibrary
}

func sws_scale(
    _ a: OpaquePointer?, _ b: UnsafePointer<UnsafePointer<UInt8>?>?, _ c: UnsafePointer<Int32>?, _ d: Int32, _ e: Int32,
    _ f: UnsafePointer<UnsafeMutablePointer<UInt8>?>?, _ g: UnsafePointer<Int32>?
) -> Int32 {
    ScaleLibrary.installed?.pointee.sws_scale(a, b, c, d, e, f, g) ?? CodecError.noLibrary
}
