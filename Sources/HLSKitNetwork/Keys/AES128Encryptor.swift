package import HLSKitLoading

/// AES-128 in CBC mode with PKCS7 padding: the inverse of ``AES128Decryptor``.
package enum AES128Encryptor {
    /// - Throws: `badKeyLength` unless key and vector have 16 bytes.
    package static func encrypt(
        _ bytes: [UInt8], key: [UInt8], initializationVector: [UInt8]
    ) throws(DecryptionError) -> [UInt8] {
        var cipher = try AESCipher(.cbc, .encryption, key: key)
        try cipher.restart(initializationVector)
        let padding = AESCipher.blockByteCount - bytes.count % AESCipher.blockByteCount
        var result = bytes + [UInt8](repeating: UInt8(padding), count: padding)
        var failure: DecryptionError?
        result.withUnsafeMutableBytes { buffer in
            do throws(DecryptionError) { try cipher.convert(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        return result
    }
}

extension AES128Decryptor {
    package static func decrypt(
        _ bytes: [UInt8], key: [UInt8], initializationVector: [UInt8]
    ) throws(DecryptionError) -> [UInt8] {
        var decryptor = try AES128Decryptor(key: key, initializationVector: initializationVector)
        var clear = bytes
        try decryptor.decrypt(&clear)
        return clear + (try decryptor.finish())
    }
}
