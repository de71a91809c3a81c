import Glibc
import HLSKitCore

/// SDL 2 provides the window, its events, drawing and audio. It is opened when needed and never closed.
///
/// Requires version 2.0.10 or later; the types and constants of SDL 2 do not change. The window's functions are called
/// on one thread, ``WindowThread``.
package final class SDLLibrary: Sendable {
    package static let packageName = "libsdl2-2.0-0"
    private static let fileName = "libSDL2-2.0.so.0"

    typealias Text = UnsafePointer<CChar>
    typealias Handle = OpaquePointer

    // General
    let setHint: @convention(c) (Text, Text) -> Int32
    let start: @convention(c) (UInt32) -> Int32
    let stop: @convention(c) (UInt32) -> Void
    let lastError: @convention(c) () -> Text?
    // Window
    let videoDriver: @convention(c) () -> Text?
    let makeWindow: @convention(c) (Text, Int32, Int32, Int32, Int32, UInt32) -> Handle?
    let freeWindow: @convention(c) (Handle) -> Void
    let setTitle: @convention(c) (Handle, Text) -> Void
    let setFullscreen: @convention(c) (Handle, UInt32) -> Int32
    let displayIndex: @convention(c) (Handle) -> Int32
    let displayBounds: @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32
    let windowSize: @convention(c) (Handle, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> Void
    let windowPosition: @convention(c) (Handle, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> Void
    let setWindowSize: @convention(c) (Handle, Int32, Int32) -> Void
    let setWindowPosition: @convention(c) (Handle, Int32, Int32) -> Void
    let showCursor: @convention(c) (Int32) -> Int32
    let waitForEvent: @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    let nextEvent: @convention(c) (UnsafeMutableRawPointer) -> Int32
    // Drawing
    let makeRenderer: @convention(c) (Handle, Int32, UInt32) -> Handle?
    let freeRenderer: @convention(c) (Handle) -> Void
    let outputSize: @convention(c) (Handle, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> Int32
    let setColor: @convention(c) (Handle, UInt8, UInt8, UInt8, UInt8) -> Int32
    let setBlending: @convention(c) (Handle, Int32) -> Int32
    let clear: @convention(c) (Handle) -> Int32
    let fill: @convention(c) (Handle, UnsafeRawPointer?) -> Int32
    let copy:
        @convention(c) (Handle, Handle, UnsafeRawPointer?, UnsafeRawPointer?, Double, UnsafeRawPointer?, Int32) ->
            Int32
    let present: @convention(c) (Handle) -> Void
    // Textures
    let setMatrix: @convention(c) (Int32) -> Void
    let makeTexture: @convention(c) (Handle, UInt32, Int32, Int32, Int32) -> Handle?
    let freeTexture: @convention(c) (Handle) -> Void
    let setTextureBlending: @convention(c) (Handle, Int32) -> Int32
    let updateTexture: @convention(c) (Handle, UnsafeRawPointer?, UnsafeRawPointer, Int32) -> Int32
    let updatePlanes:
        @convention(c) (
            Handle, UnsafeRawPointer?, UnsafeRawPointer, Int32, UnsafeRawPointer, Int32, UnsafeRawPointer, Int32
        ) -> Int32
    // Sound
    let openAudio: @convention(c) (Text?, Int32, UnsafeRawPointer, UnsafeMutableRawPointer, Int32) -> UInt32
    let pauseAudio: @convention(c) (UInt32, Int32) -> Void
    let closeAudio: @convention(c) (UInt32) -> Void

    private struct Missing: Error {
        var text: String
    }

    /// - Throws: ``HLSError/Code/output``, with the name of the package to install.
    static func open() throws(HLSError) -> SDLLibrary {
        guard let handle = dlopen(fileName, RTLD_NOW | RTLD_LOCAL) else {
            let text = dlerror().map { String(cString: $0) } ?? ""
            let isAbsent = text.isEmpty || text.hasSuffix("No such file or directory")
            throw HLSError(
                code: .output,
                cause: isAbsent ? "a window needs SDL 2, which is not installed" : "SDL 2 cannot be loaded",
                detail: isAbsent ? "apt-get install \(packageName)" : text)
        }
        do {
            return try SDLLibrary(handle)
        } catch {
            throw HLSError(code: .output, cause: "SDL 2 cannot be used", detail: error.text)
        }
    }

    private init(_ handle: UnsafeMutableRawPointer) throws(Missing) {
        setHint = try Self.symbol("SDL_SetHint", of: handle)
        start = try Self.symbol("SDL_InitSubSystem", of: handle)
        stop = try Self.symbol("SDL_QuitSubSystem", of: handle)
        lastError = try Self.symbol("SDL_GetError", of: handle)
        videoDriver = try Self.symbol("SDL_GetCurrentVideoDriver", of: handle)
        makeWindow = try Self.symbol("SDL_CreateWindow", of: handle)
        freeWindow = try Self.symbol("SDL_DestroyWindow", of: handle)
        setTitle = try Self.symbol("SDL_SetWindowTitle", of: handle)
        setFullscreen = try Self.symbol("SDL_SetWindowFullscreen", of: handle)
        displayIndex = try Self.symbol("SDL_GetWindowDisplayIndex", of: handle)
        displayBounds = try Self.symbol("SDL_GetDisplayBounds", of: handle)
        windowSize = try Self.symbol("SDL_GetWindowSize", of: handle)
        windowPosition = try Self.symbol("SDL_GetWindowPosition", of: handle)
        setWindowSize = try Self.symbol("SDL_SetWindowSize", of: handle)
        setWindowPosition = try Self.symbol("SDL_SetWindowPosition", of: handle)
        showCursor = try Self.symbol("SDL_ShowCursor", of: handle)
        waitForEvent = try Self.symbol("SDL_WaitEventTimeout", of: handle)
        nextEvent = try Self.symbol("SDL_PollEvent", of: handle)
        makeRenderer = try Self.symbol("SDL_CreateRenderer", of: handle)
        freeRenderer = try Self.symbol("SDL_DestroyRenderer", of: handle)
        outputSize = try Self.symbol("SDL_GetRendererOutputSize", of: handle)
        setColor = try Self.symbol("SDL_SetRenderDrawColor", of: handle)
        setBlending = try Self.symbol("SDL_SetRenderDrawBlendMode", of: handle)
        clear = try Self.symbol("SDL_RenderClear", of: handle)
        fill = try Self.symbol("SDL_RenderFillRect", of: handle)
        copy = try Self.symbol("SDL_RenderCopyEx", of: handle)
        present = try Self.symbol("SDL_RenderPresent", of: handle)
        setMatrix = try Self.symbol("SDL_SetYUVConversionMode", of: handle)
        makeTexture = try Self.symbol("SDL_CreateTexture", of: handle)
        freeTexture = try Self.symbol("SDL_DestroyTexture", of: handle)
        setTextureBlending = try Self.symbol("SDL_SetTextureBlendMode", of: handle)
        updateTexture = try Self.symbol("SDL_UpdateTexture", of: handle)
        updatePlanes = try Self.symbol("SDL_UpdateYUVTexture", of: handle)
        openAudio = try Self.symbol("SDL_OpenAudioDevice", of: handle)
        pauseAudio = try Self.symbol("SDL_PauseAudioDevice", of: handle)
        closeAudio = try Self.symbol("SDL_CloseAudioDevice", of: handle)
    }

    private static func symbol<Function>(
        _ name: String, of handle: UnsafeMutableRawPointer
    ) throws(Missing) -> Function {
        guard let address = dlsym(handle, name) else { throw Missing(text: "it has no \(name)") }
        return unsafeBitCast(address, to: Function.self)
    }

    var errorText: String { lastError().map { String(cString: $0) } ?? "" }
}

/// Constants from SDL 2's headers.
enum SDL {
    static let audio: UInt32 = 0x10
    static let video: UInt32 = 0x20
    static let centered: Int32 = 0x2FFF_0000
    static let resizable: UInt32 = 0x20
    /// Full screen without changing the display mode.
    static let fullscreen: UInt32 = 0x1001
    static let software: UInt32 = 1
    static let synchronized: UInt32 = 4
    /// Three planes: luma, and two chroma planes at half the width and height.
    static let planar: UInt32 = 0x5655_5949
    /// Four bytes per pixel: red, green, blue, alpha.
    static let rgba: UInt32 = 0x1676_2004
    static let streaming: Int32 = 1
    static let blend: Int32 = 1
    /// ITU-R BT.709, limited range.
    static let rec709: Int32 = 2
    /// 32-bit float, little-endian.
    static let float32: UInt16 = 0x8120
}
