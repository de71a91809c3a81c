import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork

/// Checks the bytes of a segment while they are stored: they must be media, or decrypt to media. Unreadable bytes must
/// not count as a loaded segment (R51, R52, R67).
struct SegmentCheck: Sendable {
    private static let blockByteCount = AES128Decryptor.blockByteCount
    /// Ciphertext of this length almost certainly contains bytes that text does not have.
    private static let sureByteCount = 64

    /// Whether an image in front of the media is encrypted, too, so that its size is unknown while bytes arrive.
    var isEncrypted = false
    private var head: [UInt8] = []
    /// The last two whole blocks, and the bytes that follow them.
    private var tail: [UInt8] = []
    private var boxes = MP4BoxWalk()
    private var byteCount = 0

    init(isEncrypted: Bool = false) { self.isEncrypted = isEncrypted }

    var isEmpty: Bool { byteCount == 0 }

    mutating func append(_ bytes: [UInt8]) {
        let limit =
            isEncrypted
            ? ContainerProbe.longestByteCount : ContainerProbe.maximumByteCount(of: head.isEmpty ? bytes : head)
        if head.count < limit { head += bytes.prefix(limit - head.count) }
        byteCount += bytes.count
        if !isEncrypted { boxes.append(bytes) }
        tail += bytes.suffix(3 * Self.blockByteCount)
        tail.removeFirst(max(0, tail.count - 2 * Self.blockByteCount - byteCount % Self.blockByteCount))
    }

    /// Checks a complete segment that is not encrypted.
    ///
    /// - Parameter mayBeEmpty: Whether it is a subtitle file, which may be empty or have no header. Other media is
    ///   never empty.
    func finish(mayBeEmpty: Bool) throws(MediaError) {
        if let appearance = Self.appearance(of: head, mayBeEmpty) {
            throw ContainerProbe.refusal(ofAppearance: appearance)
        }
    }

    /// Whether a segment that is not encrypted ends within a box or a packet (R15).
    var isTruncated: Bool {
        // Bytes in front of the media, such as an image, shift all packets and boxes.
        guard !ContainerProbe.beginsWithImage(head) else { return false }
        return switch ContainerProbe.identify(head[...], isComplete: true) {
        case .transportStream(let stride) where head.dropFirst(stride - 188).first == 0x47:
            byteCount % stride != 0
        case .mp4: boxes.isTruncated
        default: false
        }
    }

    /// Checks a complete segment that is encrypted as a whole.
    ///
    /// - Throws: `MediaError` if it is not ciphertext, `DecryptionError` if the key is wrong.
    func finish(key: [UInt8], vector: [UInt8], mayBeEmpty: Bool) throws {
        guard byteCount > 0, try byteCount % Self.blockByteCount == 0 || endsBehindPadding(key, vector) else {
            throw MediaError(code: .truncated, text: "\(byteCount) bytes are not a positive multiple of 16")
        }
        if head.count >= Self.sureByteCount, head.allSatisfy({ $0 < 0x80 }) {
            try finish(mayBeEmpty: false)
            throw MediaError(code: .unknownContainer, byteOffset: 0, text: "not encrypted: it looks like text")
        }
        let clear = try clearHead(key, vector)
        if let appearance = Self.appearance(of: clear, mayBeEmpty) {
            throw DecryptionError(code: .badPadding, text: "AES-128: decrypted it looks like \(appearance)")
        }
    }

    /// Whether the last whole block is padded, so that the bytes after it are not a part of the segment.
    private func endsBehindPadding(_ key: [UInt8], _ vector: [UInt8]) throws -> Bool {
        let count = min(tail.count, Self.blockByteCount)
        let isOnly = tail.count < 2 * Self.blockByteCount
        var decryptor = try AES128Decryptor(
            key: key, initializationVector: isOnly ? vector : Array(tail.prefix(count)))
        var last = isOnly ? tail : Array(tail.dropFirst(count))
        try decryptor.decrypt(&last)
        return (try? decryptor.end().isPadded) ?? false
    }

    /// Decrypts the first bytes. Padding matters only for short data.
    private func clearHead(_ key: [UInt8], _ vector: [UInt8]) throws(DecryptionError) -> [UInt8] {
        var decryptor = try AES128Decryptor(key: key, initializationVector: vector)
        var clear: [UInt8] = []
        var count = 0
        while case let wanted = min(head.count, ContainerProbe.maximumByteCount(of: clear)), count < wanted {
            var next = Array(head[count..<wanted])
            try decryptor.decrypt(&next)
            clear += next
            count = wanted
        }
        return byteCount > count ? clear : clear + (try decryptor.end().bytes)
    }

    private static func appearance(of head: [UInt8], _ mayBeEmpty: Bool) -> String? {
        guard !(mayBeEmpty && (head.isEmpty || WebVTTParser.lacksHeader(head[...]))),
            case .unknown(let appearance)? = ContainerProbe.identify(head[...], isComplete: true)
        else { return nil }
        return appearance
    }
}
