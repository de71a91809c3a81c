import HLSKitLoading
import HLSKitNetwork
import TestSupport
import Testing

@Suite("AES-128 in CBC mode")
struct AES128DecryptorTests {
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap { $0.hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    // NIST SP 800-38A, F.2.1 and F.2.2.
    static let key = bytes("2b7e151628aed2a6abf7158809cf4f3c")
    static let iv = bytes("000102030405060708090a0b0c0d0e0f")
    static let clear = bytes(
        """
        6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
        30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710
        """)
    static let cipher = bytes(
        """
        7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
        73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7
        """)

    static func decrypt(
        _ bytes: [UInt8], key: [UInt8] = key, step: Int = .max
    ) throws -> [UInt8] {
        var decryptor = try AES128Decryptor(key: key, initializationVector: iv)
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: min(step, max(1, bytes.count))) {
            var piece = Array(bytes[start..<min(bytes.count, start + min(step, bytes.count))])
            try decryptor.decrypt(&piece)
            output += piece
        }
        return output + (try decryptor.finish())
    }

    static func encrypt(_ bytes: [UInt8]) throws -> [UInt8] {
        try Tool.run(
            [
                "openssl", "enc", "-aes-128-cbc", "-K", "2b7e151628aed2a6abf7158809cf4f3c", "-iv",
                "000102030405060708090a0b0c0d0e0f",
            ], input: bytes)
    }

    @Test("decrypted data encrypts to the original again", arguments: [0, 1, 15, 16, 17, 4096, 5000])
    func encryptedAgain(_ count: Int) throws {
        let clear = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let encrypted = try Self.encrypt(clear)
        #expect(try AES128Encryptor.encrypt(clear, key: Self.key, initializationVector: Self.iv) == encrypted)
        #expect(try AES128Decryptor.decrypt(encrypted, key: Self.key, initializationVector: Self.iv) == clear)
    }

    @Test("NIST ciphertext decrypts to NIST plaintext")
    func vectors() throws {
        var decryptor = try AES128Decryptor(key: Self.key, initializationVector: Self.iv)
        // One block more, so that none of the four blocks can be the last.
        var bytes = Self.cipher + [UInt8](repeating: 0, count: 16)
        try decryptor.decrypt(&bytes)
        #expect(bytes == Self.clear)
    }

    @Test("padding of any length is removed, at every split", arguments: [0, 1, 15, 16, 17, 31, 32, 1000, 100_000])
    func splits(_ count: Int) throws {
        let clear = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let cipher = try Self.encrypt(clear)
        for step in [1, 5, 16, 17, 48, 1000, Int.max] where step > 1 || count <= 1000 {
            #expect(try Self.decrypt(cipher, step: step) == clear)
        }
    }

    @Test("up to 15 bytes after the padding are dropped", arguments: [1, 8, 15])
    func excess(_ count: Int) throws {
        let clear = Self.clear + [1, 2, 3]
        let cipher = try Self.encrypt(clear) + [UInt8](repeating: 0xA5, count: count)
        for step in [1, 7, 16, 17, Int.max] { #expect(try Self.decrypt(cipher, step: step) == clear) }
    }

    @Test("truncated data is distinguished from a wrong key (R51, R52)")
    func errors() throws {
        let cipher = try Self.encrypt(Self.clear)
        for count in 0..<cipher.count where count % 16 != 0 || count == 0 {
            #expect { try Self.decrypt(Array(cipher[..<count])) } throws: {
                ($0 as? DecryptionError)?.code == .truncated
            }
        }
        // The data ends at a block boundary, so its padding is missing. The last byte of this clear text is no valid
        // padding.
        #expect { try Self.decrypt(Array(cipher.dropLast(16))) } throws: {
            ($0 as? DecryptionError)?.code == .badPadding
        }
        #expect { try Self.decrypt(cipher, key: Self.iv) } throws: { ($0 as? DecryptionError)?.code == .badPadding }
    }

    @Test("padding may be missing if earlier data proved the key")
    func noPadding() throws {
        var decryptor = try AES128Decryptor(key: Self.key, initializationVector: Self.iv)
        var bytes = Self.cipher
        try decryptor.decrypt(&bytes)
        #expect(try bytes + decryptor.end().bytes == Self.clear)
    }

    @Test("only keys of 16 bytes are accepted", arguments: [0, 15, 17, 32])
    func keyLength(_ count: Int) {
        #expect { try Self.decrypt(Self.cipher, key: [UInt8](repeating: 0, count: count)) } throws: {
            ($0 as? DecryptionError)?.code == .badKeyLength
        }
    }
}
