import FoundationEssentials
import HLSKitCore

/// Encodes an image for kitty's graphics protocol, which replaces the previous image. Pixels have 24 bits and are sent
/// in base 64, in chunks.
///
/// Source: kitty's documentation, "Terminal graphics protocol".
struct KittyEncoder: Sendable {
    /// The size of a chunk in bytes, after encoding.
    private static let pieceByteCount = 4096
    static let deletion = "\u{1b}_Ga=d,d=A,q=2\u{1b}\\"

    func bytes(of image: StillImage, in place: PreviewLayout.Place) -> [UInt8] {
        let pixels = image.pixels
        var colors = Data(capacity: pixels.count / 4 * 3)
        for start in stride(from: 0, to: pixels.count - 3, by: 4) {
            colors.append(contentsOf: pixels[start..<start + 3])
        }
        let encoded = colors.base64EncodedData()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count + encoded.count / 64)
        var offset = 0
        repeat {
            let end = min(offset + Self.pieceByteCount, encoded.count)
            let more = end < encoded.count ? 1 : 0
            let keys =
                offset == 0
                ? "a=T,f=24,i=1,p=1,q=2,C=1,s=\(image.width),v=\(image.height),c=\(place.columns),r=\(place.rows),m=\(more)"
                : "q=2,m=\(more)"
            bytes.append(contentsOf: "\u{1b}_G\(keys);".utf8)
            bytes.append(contentsOf: encoded[offset..<end])
            bytes.append(contentsOf: "\u{1b}\\".utf8)
            offset = end
        } while offset < encoded.count
        return bytes
    }
}
