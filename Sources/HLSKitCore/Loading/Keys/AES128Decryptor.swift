import CCrypto

/// AES-128 in CBC mode with PKCS7 padding: `METHOD=AES-128` (RFC 8216 §4.3.2.4), for any split of the data.
struct AES128Decryptor: ~Copyable, SegmentDecryptor {
    static let blockByteCount = 16

    private let context: OpaquePointer
    /// Cipher text that waits for the rest of its block, or for the news that it is not the last one.
    private var held: [UInt8] = []
    private var byteCount = 0

    /// - Throws: `badKeyLength` unless both have 16 bytes.
    init(key: [UInt8], initializationVector: [UInt8]) throws(DecryptionError) {
        guard key.count == Self.blockByteCount, initializationVector.count == Self.blockByteCount else {
            throw DecryptionError(
                code: .badKeyLength,
                text: "key of \(key.count) and IV of \(initializationVector.count) bytes, 16 are needed")
        }
        guard let context = EVP_CIPHER_CTX_new() else { throw Self.failure("EVP_CIPHER_CTX_new") }
        guard EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), nil, key, initializationVector) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw Self.failure("EVP_DecryptInit_ex")
        }
        // The padding is checked here: the library would hold back a block of clear text and so could not work in
        // place, and its error does not tell truncated data from a wrong key.
        EVP_CIPHER_CTX_set_padding(context, 0)
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    mutating func decrypt(_ bytes: inout [UInt8]) throws(DecryptionError) {
        byteCount += bytes.count
        // The last block may be padding, so at least one byte stays behind.
        let total = held.count + bytes.count
        let usable = total == 0 ? 0 : (total - 1) / Self.blockByteCount * Self.blockByteCount
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

    mutating func finish() throws(DecryptionError) -> [UInt8] {
        guard held.count == Self.blockByteCount else {
            throw DecryptionError(
                code: .truncated, text: "AES-128: \(byteCount) bytes are not a positive multiple of 16")
        }
        var last = held
        held = []
        try decryptBlocks(&last)
        let padding = Int(last.last ?? 0)
        guard (1...Self.blockByteCount).contains(padding), last.suffix(padding).allSatisfy({ Int($0) == padding })
        else {
            throw DecryptionError(code: .badPadding, text: "AES-128: the padding is wrong (another key?)")
        }
        last.removeLast(padding)
        return last
    }

    private func decryptBlocks(_ bytes: inout [UInt8]) throws(DecryptionError) {
        let context = context
        let isDone = bytes.withUnsafeMutableBufferPointer { buffer in
            var offset = 0
            while offset < buffer.count {
                // Lengths are of type int.
                let count = min(buffer.count - offset, 1 << 30)
                var written: Int32 = 0
                let place = buffer.baseAddress.map { $0 + offset }
                guard EVP_DecryptUpdate(context, place, &written, place, Int32(count)) == 1, Int(written) == count
                else { return false }
                offset += count
            }
            return true
        }
        guard isDone else { throw Self.failure("EVP_DecryptUpdate") }
    }

    private static func failure(_ call: String) -> DecryptionError {
        let code = ERR_get_error()
        var words = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &words, words.count)
        let end = words.firstIndex(of: 0) ?? words.count
        return DecryptionError(
            code: .library,
            text: "\(call): " + String(decoding: words[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}

// A cipher context may be used by one thread at a time (openssl-threads(7)); the methods are mutating and the type
// cannot be copied, so the compiler sees to that.
extension AES128Decryptor: @unchecked Sendable {}
