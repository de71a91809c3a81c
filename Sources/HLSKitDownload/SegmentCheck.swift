import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork

/// Looks at the bytes of a segment while they are stored: whether they are media, or what decrypts to media. What nobody
/// can read is not to count as loaded.
///
/// See R51, R52 and R67 in docs/behaviour/faults.md.
struct SegmentCheck: Sendable {
    private static let blockByteCount = AES128Decryptor.blockByteCount
    /// Ciphertext of so many bytes has some that no text has.
    private static let sureByteCount = 64

    private var head: [UInt8] = []
    private var byteCount = 0

    /// Nothing has come.
    var isEmpty: Bool { byteCount == 0 }

    mutating func append(_ bytes: [UInt8]) {
        let limit = ContainerProbe.maximumByteCount(of: head.isEmpty ? bytes : head)
        if head.count < limit { head += bytes.prefix(limit - head.count) }
        byteCount += bytes.count
    }

    /// All is there, in clear.
    ///
    /// - Parameter mayBeEmpty: a file of subtitles that may have no cue, and no header; other media is never empty.
    func finish(mayBeEmpty: Bool) throws(MediaError) {
        if let appearance = Self.appearance(of: head, mayBeEmpty) {
            throw ContainerProbe.refusal(ofAppearance: appearance)
        }
    }

    /// All is there, encrypted as a whole.
    ///
    /// - Throws: `MediaError` where it is no ciphertext, `DecryptionError` where this is not its key.
    func finish(key: [UInt8], vector: [UInt8], mayBeEmpty: Bool) throws {
        guard byteCount > 0, byteCount % Self.blockByteCount == 0 else {
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

    /// The first bytes in clear. What is media needs no padding.
    private func clearHead(_ key: [UInt8], _ vector: [UInt8]) throws(DecryptionError) -> [UInt8] {
        var decryptor = try AES128Decryptor(key: key, initializationVector: vector)
        var clear = head
        try decryptor.decrypt(&clear)
        return byteCount > head.count ? clear : clear + (try decryptor.end().bytes)
    }

    /// What the beginning of something looks like that is no media.
    private static func appearance(of head: [UInt8], _ mayBeEmpty: Bool) -> String? {
        guard !(mayBeEmpty && (head.isEmpty || WebVTTParser.lacksHeader(head[...]))),
            case .unknown(let appearance)? = ContainerProbe.identify(head[...], isComplete: true)
        else { return nil }
        return appearance
    }
}
