import Glibc

/// Draws an Advanced SubStation Alpha script with libass. Use it on one thread at a time.
package final class SubtitleRasterizer {
    private let functions: SubtitleLibrary
    private let library: OpaquePointer
    private let renderer: OpaquePointer
    private let missing = MissingGlyphs()

    package var missingCharacters: Set<Unicode.Scalar> { missing.characters }

    package init() throws(CodecError) {
        functions = try SubtitleLibrary.required()
        guard let library = functions.makeLibrary() else {
            throw CodecError(call: "ass_library_init", code: CodecError.outOfMemory)
        }
        // By default its messages about fonts go to standard error.
        functions.setMessage(library, MissingGlyphs.listen, Unmanaged.passUnretained(missing).toOpaque())
        guard let renderer = functions.makeRenderer(library) else {
            functions.freeLibrary(library)
            throw CodecError(call: "ass_renderer_init", code: CodecError.outOfMemory)
        }
        self.library = library
        self.renderer = renderer
        // 1: any font provider of this system.
        functions.setFonts(renderer, nil, "sans-serif", 1, nil, 1)
    }

    deinit {
        functions.freeRenderer(renderer)
        functions.freeLibrary(library)
    }

    /// Draws a script at its time 0, as rows of red, green, blue and alpha, not premultiplied.
    package func draw(_ script: String, width: Int, height: Int) throws(CodecError) -> [UInt8] {
        var bytes = Array(script.utf8CString)
        let count = bytes.count - 1
        guard
            let track = bytes.withUnsafeMutableBufferPointer({ buffer in
                buffer.baseAddress.flatMap { functions.read(library, $0, count, nil) }
            })
        else {
            throw CodecError(call: "ass_read_memory", code: CodecError.invalidArgument)
        }
        defer { functions.freeTrack(track) }
        functions.setFrameSize(renderer, Int32(clamping: width), Int32(clamping: height))
        var canvas = Canvas(width: width, height: height)
        var next = functions.render(renderer, track, 0, nil)
        while let image = next {
            canvas.draw(Layer(image))
            next = image.load(fromByteOffset: Layer.nextOffset, as: UnsafeRawPointer?.self)
        }
        return canvas.pixels
    }

    /// `ASS_Image`: the coverage of each pixel in a rectangle by one color. Its fields have these offsets if pointers
    /// have eight bytes.
    private struct Layer {
        static let nextOffset = 40

        let width: Int
        let height: Int
        let stride: Int
        let coverage: UnsafePointer<UInt8>?
        let color: UInt32
        let x: Int
        let y: Int

        init(_ image: UnsafeRawPointer) {
            width = Int(image.load(as: Int32.self))
            height = Int(image.load(fromByteOffset: 4, as: Int32.self))
            stride = Int(image.load(fromByteOffset: 8, as: Int32.self))
            coverage = image.load(fromByteOffset: 16, as: UnsafePointer<UInt8>?.self)
            color = image.load(fromByteOffset: 24, as: UInt32.self)
            x = Int(image.load(fromByteOffset: 28, as: Int32.self))
            y = Int(image.load(fromByteOffset: 32, as: Int32.self))
        }
    }

    private struct Canvas {
        let width: Int
        let height: Int
        var pixels: [UInt8]

        init(width: Int, height: Int) {
            self.width = width
            self.height = height
            pixels = [UInt8](repeating: 0, count: width * height * 4)
        }

        mutating func draw(_ layer: Layer) {
            guard let coverage = layer.coverage, layer.width > 0, layer.height > 0 else { return }
            let color = [24, 16, 8].map { Int(layer.color >> $0 & 0xff) }
            let opacity = 255 - Int(layer.color & 0xff)
            for row in max(0, -layer.y)..<max(0, -layer.y, min(layer.height, height - layer.y)) {
                for column in max(0, -layer.x)..<max(0, -layer.x, min(layer.width, width - layer.x)) {
                    // The rows of the mask are `stride` bytes apart. The last one may be shorter.
                    let alpha = Int(coverage[row * layer.stride + column]) * opacity / 255
                    guard alpha > 0 else { continue }
                    let at = ((row + layer.y) * width + column + layer.x) * 4
                    let below = Int(pixels[at + 3]) * (255 - alpha) / 255
                    let sum = alpha + below
                    for channel in 0..<3 {
                        let mixed = (color[channel] * alpha + Int(pixels[at + channel]) * below + sum / 2) / sum
                        pixels[at + channel] = UInt8(clamping: mixed)
                    }
                    pixels[at + 3] = UInt8(clamping: sum)
                }
            }
        }
    }
}
