package import HLSKitLoading

/// AES-128 in CBC mode with PKCS7 padding: `METHOD=AES-128` (RFC 8216 §4.3.2.4), for any split of the data.
///
/// Up to 15 bytes after the padding are dropped. Some servers append them.
package struct AES128Decryptor: ~Copyable, SegmentDecryptor {
    package static let blockByteCount = AESCipher.blockByteCount

    private var cipher: AESCipher
    /// Cipher text that waits for the rest of its block, or for a following block.
    private var held: [UInt8] = []
    private var byteCount = 0

    /// - Throws: `badKeyLength` unless both have 16 bytes.
    package init(key: [UInt8], initializationVector: [UInt8]) throws(DecryptionError) {
        var cipher = try AESCipher(.cbc, key: key)
        try cipher.restart(initializationVector)
        self.cipher = cipher
    }

    package mutating func decrypt(_ bytes: inout [UInt8]) throws(DecryptionError) {
        byteCount += bytes.count
        // The last whole block may be padding, so it is held back.
        let total = held.count + bytes.count
        let usable = max(0, total / Self.blockByteCount - 1) * Self.blockByteCount
        guard usable > 0 else {
            held += bytes
            bytes = []
            return
        }
        if !held.isEmpty { bytes.insert(contentsOf: held, at: 0) }
        held.replaceSubrange(held.startIndex..., with: bytes[usable...])
        bytes.removeSubrange(usable...)
        try decryptBlocks(&bytes)
    }

    package struct End: Sendable {
        package var bytes: [UInt8]
        /// Whether there was padding, which has been removed. If not, the key is wrong, or the resource is truncated or
        /// has other padding. The reader of the bytes can distinguish these cases.
        package var isPadded: Bool
    }

    package mutating func finish() throws(DecryptionError) -> [UInt8] {
        let end = try end()
        guard end.isPadded else { throw DecryptionError.unpadded }
        return end.bytes
    }

    /// Like ``finish()``, but leaves the meaning of missing padding to the caller.
    package mutating func end() throws(DecryptionError) -> End {
        let truncated = DecryptionError(
            code: .truncated, text: "AES-128: \(byteCount) bytes are not a positive multiple of 16")
        guard held.count >= Self.blockByteCount else { throw truncated }
        var last = Array(held.prefix(Self.blockByteCount))
        let isWhole = held.count == last.count
        held = []
        try decryptBlocks(&last)
        let padding = Int(last.last ?? 0)
        guard (1...Self.blockByteCount).contains(padding), last.suffix(padding).allSatisfy({ Int($0) == padding })
        else {
            guard isWhole else { throw truncated }
            return End(bytes: last, isPadded: false)
        }
        last.removeLast(padding)
        return End(bytes: last, isPadded: true)
    }

    private mutating func decryptBlocks(_ bytes: inout [UInt8]) throws(DecryptionError) {
        var failure: DecryptionError?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(DecryptionError) { try cipher.convert(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

extension DecryptionError {
    fileprivate static let unpadded = DecryptionError(
        code: .badPadding, text: "AES-128: the padding is wrong (another key?)")
}
