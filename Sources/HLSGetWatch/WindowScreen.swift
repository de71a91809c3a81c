import Glibc
import HLSKitCore

/// An SDL window and its drawing operations. Only one thread uses it.
final class WindowScreen {
    enum Layer: Hashable {
        case captions, status, pointer
        case thumbnail(Int)

        /// The index of the texture. All thumbnails share one.
        fileprivate var slot: Int {
            switch self {
            case .captions: 0
            case .status: 1
            case .pointer: 2
            case .thumbnail: 3
            }
        }
    }

    private struct Layered {
        var texture: SDLLibrary.Handle
        var image: StillImage
    }

    private let library: SDLLibrary
    private let window: SDLLibrary.Handle
    private let renderer: SDLLibrary.Handle
    private var video: (texture: SDLLibrary.Handle, width: Int, height: Int)?
    private var frame: VideoFrame?
    private var layers: [Int: Layered] = [:]
    private var isPointerShown = true
    /// The place of the window before full screen.
    private var windowed: WindowRect?

    init(_ library: SDLLibrary, _ options: WindowOptions) throws(HLSError) {
        self.library = library
        // The command handles signals itself. Full screen stays when the user clicks a window on another screen.
        for (name, value) in [
            ("SDL_NO_SIGNAL_HANDLERS", "1"), ("SDL_VIDEO_MINIMIZE_ON_FOCUS_LOSS", "0"),
            ("SDL_RENDER_SCALE_QUALITY", "linear"), ("SDL_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR", "0"),
            ("SDL_APP_NAME", "hlsget"), ("SDL_VIDEO_X11_WMCLASS", "hlsget"), ("SDL_MOUSE_FOCUS_CLICKTHROUGH", "1"),
        ] { _ = library.setHint(name, value) }
        guard QuietLibraries.during({ library.start(SDL.video) }) == 0 else {
            throw Self.noDisplay(library.errorText)
        }
        // Without a display, SDL falls back to an invisible driver; accept it only if the user asked for it.
        let driver = library.videoDriver().map { String(cString: $0) } ?? ""
        let wanted = getenv("SDL_VIDEODRIVER").map { String(cString: $0) } ?? ""
        if ["dummy", "offscreen", "evdev"].contains(driver), !wanted.contains(driver) {
            library.stop(SDL.video)
            throw Self.noDisplay(
                "neither DISPLAY nor WAYLAND_DISPLAY names one; hlsget --preview draws in the terminal")
        }
        let (width, height) = (Int32(clamping: options.size.width), Int32(clamping: options.size.height))
        guard
            let window = library.makeWindow(options.title, SDL.centered, SDL.centered, width, height, SDL.resizable)
        else {
            let error = HLSError(code: .output, cause: "the window cannot be opened", detail: library.errorText)
            library.stop(SDL.video)
            throw error
        }
        guard
            let renderer = library.makeRenderer(window, -1, SDL.synchronized)
                ?? library.makeRenderer(window, -1, 0) ?? library.makeRenderer(window, -1, SDL.software)
        else {
            let error = HLSError(code: .output, cause: "nothing can be drawn in the window", detail: library.errorText)
            library.freeWindow(window)
            library.stop(SDL.video)
            throw error
        }
        self.window = window
        self.renderer = renderer
        // All frames use this colour matrix.
        library.setMatrix(SDL.rec709)
        _ = library.setBlending(renderer, SDL.blend)
        if options.isFullscreen { setFullscreen(true) }
        makeReady()
    }

    /// Draws a black frame and a black image in advance.
    ///
    /// The first use of the graphics system takes 0.1 s or more, which would delay the first frame.
    private func makeReady() {
        let (side, area) = (Int32(16), WindowRect(x: 0, y: 0, width: 16, height: 16))
        let bytes = [UInt8](repeating: 0, count: 16 * 16 * 4)
        begin()
        for format in [SDL.planar, SDL.rgba] {
            guard let texture = library.makeTexture(renderer, format, SDL.streaming, side, side) else { continue }
            bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                if format == SDL.planar {
                    // The chroma is wrong for black, but the frame is cleared again.
                    _ = library.updatePlanes(texture, nil, base, side, base, side / 2, base, side / 2)
                } else {
                    _ = library.setTextureBlending(texture, SDL.blend)
                    _ = library.updateTexture(texture, nil, base, side * 4)
                }
            }
            copy(texture, from: nil, to: area, 0)
            library.freeTexture(texture)
        }
        begin()
        end()
    }

    private static func noDisplay(_ detail: String) -> HLSError {
        HLSError(code: .output, cause: "no display for a window", detail: detail)
    }

    /// Closes the window. Do not draw afterwards.
    func close() {
        forgetTextures()
        library.freeRenderer(renderer)
        library.freeWindow(window)
        library.stop(SDL.video)
    }

    var size: PixelSize {
        var (width, height): (Int32, Int32) = (0, 0)
        guard library.outputSize(renderer, &width, &height) == 0 else { return PixelSize(width: 1, height: 1) }
        return PixelSize(width: max(1, Int(width)), height: max(1, Int(height)))
    }

    func setTitle(_ title: String) { library.setTitle(window, title) }

    func setFullscreen(_ fullscreen: Bool) {
        if fullscreen { fillDisplay() }
        _ = library.setFullscreen(window, fullscreen ? SDL.fullscreen : 0)
        guard !fullscreen, let windowed else { return }
        place(windowed)
        self.windowed = nil
    }

    /// Sizes the window to its display. SDL leaves that to the window manager, which may be missing.
    private func fillDisplay() {
        var display = WindowRect(x: 0, y: 0, width: 0, height: 0)
        let isKnown = withUnsafeMutablePointer(to: &display) {
            library.displayBounds(library.displayIndex(window), UnsafeMutableRawPointer($0)) == 0
        }
        guard isKnown, display.width > 0, display.height > 0 else { return }
        var rect = display
        library.windowPosition(window, &rect.x, &rect.y)
        library.windowSize(window, &rect.width, &rect.height)
        windowed = rect
        place(display)
    }

    private func place(_ rect: WindowRect) {
        library.setWindowSize(window, rect.width, rect.height)
        library.setWindowPosition(window, rect.x, rect.y)
    }

    var showsPointer: Bool {
        get { isPointerShown }
        set {
            guard newValue != isPointerShown else { return }
            isPointerShown = newValue
            _ = library.showCursor(newValue ? 1 : 0)
        }
    }

    /// Returns the events since the last call, waiting up to `limit` milliseconds for the first one.
    func events(waitingAtMost limit: Int32) -> [WindowEvent] {
        withUnsafeTemporaryAllocation(byteCount: WindowEvent.byteCount, alignment: 8) { bytes in
            guard let base = bytes.baseAddress else { return [] }
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            var events: [WindowEvent] = []
            var isThere = library.waitForEvent(base, limit) == 1
            while isThere {
                if let event = WindowEvent(UnsafeRawBufferPointer(bytes)) { events.append(event) }
                // Draw a frame between batches, even if events keep arriving.
                guard events.count < 64 else { break }
                isThere = library.nextEvent(base) == 1
            }
            return events
        }
    }

    // MARK: Drawing

    var lacksVideo: Bool { video == nil }

    func upload(_ frame: VideoFrame) {
        self.frame = frame
        if let video, video.width != frame.width || video.height != frame.height {
            library.freeTexture(video.texture)
            self.video = nil
        }
        if video == nil {
            let texture = library.makeTexture(
                renderer, SDL.planar, SDL.streaming, Int32(clamping: frame.width), Int32(clamping: frame.height))
            video = texture.map { ($0, frame.width, frame.height) }
        }
        guard let video, frame.pixelFormatName == "yuv420p" else { return }
        frame.withPlanes { planes in
            guard planes.count == 3, let luma = planes[0].bytes.baseAddress, let blue = planes[1].bytes.baseAddress,
                let red = planes[2].bytes.baseAddress
            else { return }
            _ = library.updatePlanes(
                video.texture, nil, luma, Int32(clamping: planes[0].bytesPerRow), blue,
                Int32(clamping: planes[1].bytesPerRow), red, Int32(clamping: planes[2].bytesPerRow))
        }
    }

    func begin() {
        _ = library.setColor(renderer, 0, 0, 0, 255)
        _ = library.clear(renderer)
    }

    /// Draws the uploaded frame into a rectangle that it fills after rotation.
    func drawVideo(_ frame: VideoFrame, in rect: WindowRect) {
        guard let video else { return }
        let part = frame.cleanAperture
        let source = WindowRect(
            x: Int(part.x.rounded()), y: Int(part.y.rounded()), width: Int(part.width.rounded()),
            height: Int(part.height.rounded()))
        copy(video.texture, from: source, to: WindowLayout.unturned(rect, rotation: frame.rotation), frame.rotation)
    }

    /// Draws an image with transparency. An unchanged image is not uploaded again.
    func draw(_ image: StillImage, as layer: Layer, in rect: WindowRect) {
        var known = layers[layer.slot]
        if let old = known, old.image.width != image.width || old.image.height != image.height {
            library.freeTexture(old.texture)
            known = nil
        }
        if known?.image != image || known == nil {
            guard
                let texture = known?.texture
                    ?? library.makeTexture(
                        renderer, SDL.rgba, SDL.streaming, Int32(clamping: image.width), Int32(clamping: image.height))
            else { return }
            _ = library.setTextureBlending(texture, SDL.blend)
            image.pixels.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                _ = library.updateTexture(texture, nil, base, Int32(clamping: image.width * 4))
            }
            known = Layered(texture: texture, image: image)
            layers[layer.slot] = known
        }
        if let texture = known?.texture { copy(texture, from: nil, to: rect, 0) }
    }

    func fill(_ rect: WindowRect, _ color: WindowBar.Color) {
        let (red, green, blue, alpha): (UInt8, UInt8, UInt8, UInt8) =
            switch color {
            case .ground: (40, 40, 40, 190)
            case .loaded: (190, 190, 190, 150)
            case .played: (64, 156, 255, 230)
            case .playhead: (255, 255, 255, 255)
            case .pointer: (255, 210, 80, 255)
            case .frame: (0, 0, 0, 220)
            }
        _ = library.setColor(renderer, red, green, blue, alpha)
        withUnsafePointer(to: rect) { _ = library.fill(renderer, UnsafeRawPointer($0)) }
    }

    func end() { library.present(renderer) }

    private func copy(_ texture: SDLLibrary.Handle, from source: WindowRect?, to target: WindowRect, _ degrees: Int) {
        withUnsafePointer(to: target) { target in
            guard let source else {
                _ = library.copy(renderer, texture, nil, UnsafeRawPointer(target), Double(degrees), nil, 0)
                return
            }
            withUnsafePointer(to: source) { source in
                _ = library.copy(
                    renderer, texture, UnsafeRawPointer(source), UnsafeRawPointer(target), Double(degrees), nil, 0)
            }
        }
    }

    /// Releases all textures; frames must be uploaded again.
    func forgetTextures() {
        if let video { library.freeTexture(video.texture) }
        for layer in layers.values { library.freeTexture(layer.texture) }
        video = nil
        layers = [:]
    }

    func restoreVideo() {
        if video == nil, let frame { upload(frame) }
    }
}
