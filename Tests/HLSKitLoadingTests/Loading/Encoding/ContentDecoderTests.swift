import TestSupport
import Testing

@testable import HLSKitLoading
@testable import HLSKitNetwork

@Suite("Content codings (R25, R26)")
struct ContentDecoderTests {
    static let clear = Array((0..<3000).map { "#EXTINF:\($0 % 7),\nsegment\($0).ts\n" }.joined().utf8)

    static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try Tool.run(["gzip", "-n", "-9", "-c"], input: bytes) }

    /// Returns the deflate data between the 10 byte header and the 8 byte trailer of gzip (RFC 1952 §2.3).
    static func deflate(_ gzip: [UInt8]) -> [UInt8] { Array(gzip[10..<(gzip.count - 8)]) }

    /// Returns deflate data in the zlib format (RFC 1950 §2.2).
    static func zlib(_ bytes: [UInt8], _ gzip: [UInt8]) -> [UInt8] {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        let sum = b << 16 | a
        return [0x78, 0xDA] + deflate(gzip) + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }
    }

    static func decode(_ bytes: [UInt8], _ codings: [ContentCoding], step: Int = .max) throws -> [UInt8] {
        var reader = try BodyReader(BodyPlan(codings: codings, limit: 1 << 30), url: "http://a/")
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: min(step, max(1, bytes.count))) {
            try bytes[start..<min(bytes.count, start + min(step, bytes.count))].withUnsafeBytes {
                try reader.read($0) { piece in
                    output.append(contentsOf: piece)
                    return true
                }
            }
        }
        try reader.finish()
        return output
    }

    @Test("every coding gives the same bytes at every split", arguments: [1, 2, 7, 4096, Int.max])
    func splits(_ step: Int) throws {
        let clear = Self.clear
        let gzip = try Self.gzip(clear)
        #expect(try Self.decode(gzip, [.gzip], step: step) == clear)
        #expect(try Self.decode(gzip + gzip, [.gzip], step: step) == clear + clear)
        #expect(try Self.decode(gzip + [0, 0, 0], [.gzip], step: step) == clear)
        #expect(try Self.decode(Self.deflate(gzip), [.deflate], step: step) == clear)
        #expect(try Self.decode(Self.zlib(clear, gzip), [.deflate], step: step) == clear)
        #expect(try Self.decode(Self.gzip(gzip), [.gzip, .gzip], step: step) == clear)
        #expect(try Self.decode(Self.gzip(Self.deflate(gzip)), [.deflate, .gzip], step: step) == clear)
    }

    @Test("a truncated body never passes as whole, wherever it is cut")
    func truncation() throws {
        let gzip = try Self.gzip(Array("#EXTM3U\n#EXT-X-ENDLIST\n".utf8))
        for count in 0..<gzip.count {
            #expect(throws: LoadingError.self) { try Self.decode(Array(gzip[..<count]), [.gzip]) }
        }
        for count in 1..<gzip.count {
            #expect(throws: LoadingError.self) { try Self.decode(gzip + gzip[..<count], [.gzip]) }
        }
        let inner = try Self.gzip(Self.clear)
        let outer = try Self.gzip(Array(inner.dropLast(3)))
        #expect(throws: LoadingError.self) { try Self.decode(outer, [.gzip, .gzip]) }
    }

    @Test("damage is an error with zlib's message")
    func damage() throws {
        var gzip = try Self.gzip(Self.clear)
        gzip[gzip.count - 6] ^= 1
        #expect { try Self.decode(gzip, [.gzip]) } throws: {
            ($0 as? LoadingError)?.code == .badContentEncoding
                && ($0 as? LoadingError)?.text == "inflate: zlib -3: incorrect data check"
        }
        #expect(throws: LoadingError.self) { try Self.decode(Array("<!DOCTYPE html>".utf8), [.gzip]) }
        #expect(throws: LoadingError.self) { try Self.decode(Array(repeating: 0xFF, count: 100), [.deflate]) }
    }

    @Test("inflating stops at the limit, however much data follows")
    func limit() throws {
        let bomb = try Self.gzip(Self.gzip([UInt8](repeating: 0, count: 32 << 20)))
        var reader = try BodyReader(BodyPlan(codings: [.gzip, .gzip], limit: 1_000_000), url: "http://a/")
        var count = 0
        var largest = 0
        #expect {
            try bomb.withUnsafeBytes {
                try reader.read($0) { piece in
                    count += piece.count
                    largest = max(largest, piece.count)
                    return true
                }
            }
        } throws: { ($0 as? LoadingError)?.code == .tooLarge }
        #expect(count <= 1_000_000)
        #expect(largest <= 64 << 10)
    }

    @Test("the receiver can end the decoding")
    func stop() throws {
        let gzip = try Self.gzip([UInt8](repeating: 0, count: 4 << 20))
        var reader = try BodyReader(BodyPlan(codings: [.gzip], limit: 1 << 30), url: "http://a/")
        var calls = 0
        try gzip.withUnsafeBytes {
            try reader.read($0) { _ in
                calls += 1
                return false
            }
        }
        #expect(calls == 1)
    }
}
