import Glibc

/// libass, which draws text. It is opened when the first captions are drawn.
///
/// It is not linked or needed for building because few apps draw captions themselves. It provides shaping, fallback
/// fonts, line breaking and outlines.
final class SubtitleLibrary: Sendable {
    typealias Message =
        @convention(c) (Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void
    /// `vsnprintf`. Swift cannot name a `va_list` in the type of a C function. On x86-64 and AArch64, it is passed
    /// between functions as one pointer.
    typealias Format =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> Int32
    typealias Make = @convention(c) () -> OpaquePointer?
    typealias MakeFrom = @convention(c) (OpaquePointer) -> OpaquePointer?
    typealias Free = @convention(c) (OpaquePointer) -> Void
    typealias SetMessage = @convention(c) (OpaquePointer, Message, UnsafeMutableRawPointer?) -> Void
    typealias SetSize = @convention(c) (OpaquePointer, Int32, Int32) -> Void
    typealias SetFonts =
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?, Int32
        ) -> Void
    typealias Read =
        @convention(c) (OpaquePointer, UnsafeMutablePointer<CChar>, Int, UnsafePointer<CChar>?) -> OpaquePointer?
    typealias Render =
        @convention(c) (OpaquePointer, OpaquePointer, Int64, UnsafeMutablePointer<Int32>?) -> UnsafeRawPointer?

    let makeLibrary: Make
    let freeLibrary: Free
    let setMessage: SetMessage
    let makeRenderer: MakeFrom
    let freeRenderer: Free
    let setFrameSize: SetSize
    let setFonts: SetFonts
    let read: Read
    let freeTrack: Free
    let render: Render

    static let format: Format? = dlsym(nil, "vsnprintf").map { unsafeBitCast($0, to: Format.self) }

    static let installed = SubtitleLibrary()

    private init?() {
        // The functions used here have not changed since version 5.
        let names = [9, 5].map { "libass.so.\($0)" }
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else { return nil }
        func symbol<Function>(_ name: String, as type: Function.Type) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
        guard let makeLibrary = symbol("ass_library_init", as: Make.self),
            let freeLibrary = symbol("ass_library_done", as: Free.self),
            let setMessage = symbol("ass_set_message_cb", as: SetMessage.self),
            let makeRenderer = symbol("ass_renderer_init", as: MakeFrom.self),
            let freeRenderer = symbol("ass_renderer_done", as: Free.self),
            let setFrameSize = symbol("ass_set_frame_size", as: SetSize.self),
            let setFonts = symbol("ass_set_fonts", as: SetFonts.self),
            let read = symbol("ass_read_memory", as: Read.self),
            let freeTrack = symbol("ass_free_track", as: Free.self),
            let render = symbol("ass_render_frame", as: Render.self)
        else {
            dlclose(library)
            return nil
        }
        self.makeLibrary = makeLibrary
        self.freeLibrary = freeLibrary
        self.setMessage = setMessage
        self.makeRenderer = makeRenderer
        self.freeRenderer = freeRenderer
        self.setFrameSize = setFrameSize
        self.setFonts = setFonts
        self.read = read
        self.freeTrack = freeTrack
        self.render = render
    }

    static func required() throws(CodecError) -> SubtitleLibrary {
        guard let library = installed else {
            throw CodecError(
                call: "dlopen", code: CodecError.noLibrary, text: "libass.so.9 is not installed (Debian: libass9)")
        }
        return library
    }
}
