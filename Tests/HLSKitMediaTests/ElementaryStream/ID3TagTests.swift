import HLSKitMedia
import HLSKitTime
import Testing

@Suite struct ID3TagTests {
    private func tag(version: UInt8, flags: UInt8 = 0, body: [UInt8], footer: [UInt8] = []) -> [UInt8] {
        Array("ID3".utf8) + [version, 0, flags, 0, 0, UInt8(body.count >> 7), UInt8(body.count & 127)] + body + footer
    }

    @Test("frames of all versions are read")
    func versions() throws {
        let text: [UInt8] = [3] + Array("ab".utf8)
        let old = try ID3Tag(parsing: tag(version: 2, body: Array("TT2".utf8) + [0, 0, 3] + text + [0, 0, 0]))
        #expect(old.frames == [.init(id: "TT2", content: text)])
        let middle = try ID3Tag(parsing: tag(version: 3, body: Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0] + text))
        #expect(middle.frames == [.init(id: "TIT2", content: text)])
        let long = [UInt8](repeating: 7, count: 200)
        let new = try ID3Tag(
            parsing: tag(
                version: 4, flags: 0x50,
                body: [0, 0, 0, 6, 1, 0] + Array("PRIV".utf8) + [0, 0, 1, 72, 0, 0] + long,
                footer: Array("3DI".utf8) + [4, 0, 0, 0, 0, 0, 0]))
        #expect(new.frames == [.init(id: "PRIV", content: long)])
    }

    @Test("unsynchronisation and data length indicators are undone")
    func unsynchronisation() throws {
        let whole = try ID3Tag(
            parsing: tag(version: 3, flags: 0x80, body: Array("PRIV".utf8) + [0, 0, 0, 3, 0, 0, 1, 0xff, 0, 0xe0]))
        #expect(whole.frames == [.init(id: "PRIV", content: [1, 0xff, 0xe0])])
        let frame = try ID3Tag(
            parsing: tag(version: 4, body: Array("PRIV".utf8) + [0, 0, 0, 7, 0, 3, 0, 0, 0, 2, 0xff, 0, 0xe0]))
        #expect(frame.frames == [.init(id: "PRIV", content: [0xff, 0xe0])])
    }

    @Test("the timestamp has 33 bits, and only the owner's frame is used")
    func timestamp() throws {
        let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
        func priv(_ content: [UInt8]) -> [UInt8] {
            tag(version: 4, body: Array("PRIV".utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content)
        }
        let value: [UInt8] = [0xff, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe]
        #expect(try ID3Tag(parsing: priv(owner + value)).transportStreamTimestamp == 0x1_ffff_fffe)
        #expect(try ID3Tag(parsing: priv(owner + value.dropLast())).transportStreamTimestamp == nil)
        #expect(try ID3Tag(parsing: priv(Array("owner".utf8) + [0] + value)).transportStreamTimestamp == nil)
    }

    @Test("truncated tags and tags with wrong sizes give an error or a short result")
    func damaged() throws {
        #expect(throws: MediaError.self) { try ID3Tag(parsing: Array("ID3".utf8)) }
        #expect(throws: MediaError.self) { try ID3Tag(parsing: Array("ID4".utf8) + [4, 0, 0, 0, 0, 0, 0]) }
        #expect(throws: MediaError.self) { try ID3Tag(parsing: tag(version: 4, body: [1, 2, 3]).dropLast()) }
        let lying = try ID3Tag(parsing: tag(version: 4, body: Array("TIT2".utf8) + [0, 0, 1, 0, 0, 0, 1, 2]))
        #expect(lying.frames.isEmpty)
        var generator = SplitMix64(seed: 9)
        let good = tag(version: 4, body: Array("TIT2".utf8) + [0, 0, 0, 4, 0, 0, 3, 65, 66, 67])
        for _ in 0..<3000 {
            var bytes = good
            for _ in 0..<3 {
                bytes[Int.random(in: 3..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            _ = try? ID3Tag(parsing: bytes)
        }
    }
}
