import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import Testing

@testable import HLSKitDownload

@Suite("Verification of stored segments")
struct SegmentCheckTests {
    private func check(_ bytes: [UInt8], pieces: Int = 7) -> SegmentCheck {
        var check = SegmentCheck()
        var rest = bytes[...]
        while !rest.isEmpty {
            check.append(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
        }
        return check
    }

    @Test(
        "R52, R67: invalid ciphertext counts as damaged, and the key is not blamed",
        arguments: [[], Array(repeating: 0xA5, count: 17), Array(repeating: UInt8(ascii: "a"), count: 160)] as [[UInt8]]
    )
    func noCiphertext(bytes: [UInt8]) {
        #expect(throws: MediaError.self) {
            try check(bytes).finish(key: Array(0..<16), vector: Array(0..<16), mayBeEmpty: true)
        }
    }

    @Test("R51: data that does not decrypt to media has another key", arguments: [16, 32, 48, 4096])
    func otherKey(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
        #expect(throws: DecryptionError.self) {
            try check(bytes).finish(key: Array(0..<16), vector: Array(0..<16), mayBeEmpty: false)
        }
    }

    @Test("data that decrypts to media needs no padding")
    func unpadded() throws {
        let (key, vector): ([UInt8], [UInt8]) = (Array(0..<16), Array(1..<17))
        for packetCount in [4, 40] {
            let clear = (0..<packetCount * 188).map { $0 % 188 == 0 ? 0x47 : UInt8(truncatingIfNeeded: $0) }
            let cipher = try AES128Encryptor.encrypt(clear, key: key, initializationVector: vector)
            for bytes in [cipher, cipher.dropLast(16)] {
                try check(Array(bytes)).finish(key: key, vector: vector, mayBeEmpty: false)
                #expect(throws: DecryptionError.self) {
                    try check(Array(bytes)).finish(key: vector, vector: vector, mayBeEmpty: false)
                }
            }
        }
    }

    @Test("the media behind an encrypted image of any size is found")
    func image() throws {
        let (key, vector): ([UInt8], [UInt8]) = (Array(0..<16), Array(1..<17))
        let image: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8) + [UInt8](repeating: 0, count: 20_000) + [0xFF, 0xD9]
        let media = (0..<40 * 188).map { $0 % 188 == 0 ? 0x47 : UInt8(truncatingIfNeeded: $0) }
        let cipher = try AES128Encryptor.encrypt(image + media, key: key, initializationVector: vector)
        var check = SegmentCheck(isEncrypted: true)
        check.append(cipher)
        try check.finish(key: key, vector: vector, mayBeEmpty: false)
    }

    @Test("up to 15 bytes after the padding do not count", arguments: [1, 15])
    func excess(count: Int) throws {
        let (key, vector): ([UInt8], [UInt8]) = (Array(0..<16), Array(1..<17))
        let excess = [UInt8](repeating: 0xA5, count: count)
        for packetCount in [4, 40] {
            let clear = (0..<packetCount * 188).map { $0 % 188 == 0 ? 0x47 : UInt8(truncatingIfNeeded: $0) }
            let cipher = try AES128Encryptor.encrypt(clear, key: key, initializationVector: vector)
            for pieces in [1, 7, 4096] {
                try check(cipher + excess, pieces: pieces).finish(key: key, vector: vector, mayBeEmpty: false)
                // The same number of bytes, but cut short.
                #expect(throws: MediaError.self) {
                    try check(cipher.dropLast(32) + excess, pieces: pieces)
                        .finish(key: key, vector: vector, mayBeEmpty: false)
                }
            }
        }
        let text = Array("WEBVTT\n".utf8)
        let short = try AES128Encryptor.encrypt(text, key: key, initializationVector: vector)
        try check(short + excess).finish(key: key, vector: vector, mayBeEmpty: true)
    }

    @Test("cues without a header are subtitles, text without cues is not")
    func headerless() throws {
        let cues = Array("1\n00:00:01.000 --> 00:00:02.000\nHello\n\n".utf8)
        try check(cues).finish(mayBeEmpty: true)
        try check(Array("1\n00:00:01,000 --> 00:00:02,000\nHello\n\n".utf8)).finish(mayBeEmpty: true)
        #expect(throws: MediaError.self) { try check(cues).finish(mayBeEmpty: false) }
        #expect(throws: MediaError.self) { try check(Array("Not found --> 404".utf8)).finish(mayBeEmpty: true) }
    }

    @Test(
        "subtitles without a header need no cue", arguments: ["\n", "\r\n \n", "NOTE nothing is said\n", "NOTE\nx\n"])
    func headerlessWithoutCue(_ text: String) throws {
        try check(Array(text.utf8)).finish(mayBeEmpty: true)
        #expect(throws: MediaError.self) { try check(Array(text.utf8)).finish(mayBeEmpty: false) }
        #expect(throws: MediaError.self) { try check(Array("NOTFOUND\n".utf8)).finish(mayBeEmpty: true) }
    }

    @Test("an empty file is valid only for subtitles")
    func empty() throws {
        try check([]).finish(mayBeEmpty: true)
        #expect(throws: MediaError.self) { try check([]).finish(mayBeEmpty: false) }
    }
}
