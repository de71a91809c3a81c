import CCrypto
import HLSKitLoading

/// AES-128 by libcrypto, which uses the processor's AES instructions if available. It works in place and in one
/// direction.
package struct AESCipher: ~Copyable {
    enum Mode { case cbc, ctr }
    /// The values for `EVP_CipherInit_ex`.
    enum Direction: Int32 { case decryption, encryption }

    static let blockByteCount = 16

    private let crypto: CCrypto_library
    private let context: OpaquePointer
    private let direction: Direction

    /// - Throws: `badKeyLength` unless the key has 16 bytes.
    init(_ mode: Mode, _ direction: Direction = .decryption, key: [UInt8]) throws(DecryptionError) {
        guard key.count == Self.blockByteCount else {
            throw DecryptionError(
                code: .badKeyLength, text: "key of \(key.count) bytes, \(Self.blockByteCount) are needed")
        }
        let crypto = try CryptoLibrary.functions()
        guard let context = crypto.pointee.EVP_CIPHER_CTX_new() else {
            throw CryptoLibrary.failure("EVP_CIPHER_CTX_new", crypto)
        }
        let cipher = mode == .cbc ? crypto.pointee.EVP_aes_128_cbc() : crypto.pointee.EVP_aes_128_ctr()
        guard crypto.pointee.EVP_CipherInit_ex(context, cipher, nil, key, nil, direction.rawValue) == 1 else {
            crypto.pointee.EVP_CIPHER_CTX_free(context)
            throw CryptoLibrary.failure("EVP_CipherInit_ex", crypto)
        }
        // The caller handles padding. The library would hold back a clear block, so it could not work in place, and its
        // error does not distinguish truncated data from a wrong key.
        _ = crypto.pointee.EVP_CIPHER_CTX_set_padding(context, 0)
        self.crypto = crypto
        self.context = context
        self.direction = direction
    }

    deinit { crypto.pointee.EVP_CIPHER_CTX_free(context) }

    /// Starts a chain of blocks.
    ///
    /// - Throws: `badKeyLength` unless the vector has 16 bytes.
    mutating func restart(_ initializationVector: [UInt8]) throws(DecryptionError) {
        guard initializationVector.count == Self.blockByteCount else {
            throw DecryptionError(
                code: .badKeyLength,
                text: "initialization vector of \(initializationVector.count) bytes, \(Self.blockByteCount) are needed")
        }
        guard
            crypto.pointee.EVP_CipherInit_ex(context, nil, nil, nil, initializationVector, direction.rawValue) == 1
        else {
            throw CryptoLibrary.failure("EVP_CipherInit_ex", crypto)
        }
    }

    /// Continues the chain. In CBC mode the number of bytes must be a multiple of 16.
    mutating func convert(_ bytes: UnsafeMutableRawBufferPointer) throws(DecryptionError) {
        var offset = 0
        while offset < bytes.count {
            // Lengths are of type int.
            let count = min(bytes.count - offset, 1 << 30)
            var written: Int32 = 0
            let place = bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: UInt8.self) }
            guard crypto.pointee.EVP_CipherUpdate(context, place, &written, place, Int32(count)) == 1,
                Int(written) == count
            else { throw CryptoLibrary.failure("EVP_CipherUpdate", crypto) }
            offset += count
        }
    }
}

extension AESCipher: @unchecked Sendable {}  // libcrypto wants one thread at a time: not copyable, methods mutate
