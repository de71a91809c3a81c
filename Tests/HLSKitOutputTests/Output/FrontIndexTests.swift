import HLSKitLoading
import TestSupport
import Testing

@testable import HLSKitOutput

/// The boxes have the names and sizes that a muxer writes. Their content does not matter.
@Suite("Index before the media", .timeLimit(.minutes(10)))
struct FrontIndexTests {
    private static func box(_ name: String, _ byteCount: Int) -> [UInt8] {
        let size = (0..<4).reversed().map { UInt8(truncatingIfNeeded: byteCount >> (8 * $0)) }
        return size + Array(name.utf8) + [UInt8](repeating: 7, count: byteCount - 8)
    }

    private static func write(_ bytes: [UInt8], to front: FrontIndex) throws {
        try bytes.withUnsafeBytes { try front.write($0) }
    }

    private static func mux(indexByteCount: Int, room: Int64, into path: String) throws {
        let file = try OutputFile(path: path)
        let front = FrontIndex(file, room: room)
        #expect(front.options == ["moov_size": "\(room)"])
        try write(box("ftyp", 24), to: front)
        try front.seek(to: 24 + room)
        try write(box("mdat", 1000), to: front)
        try front.seek(to: 24 + room)
        try write([0, 0, 3, 0xE8], to: front)
        #expect(!front.isComplete)
        try front.seek(to: 24)
        let moov = box("moov", indexByteCount)
        try write([0, 0, 0, 0] + moov[4...], to: front)
        let left = Int(room) - indexByteCount
        if left >= 8 { try write(box("free", left), to: front) }
        try front.seek(to: 24)
        try write(Array(moov[..<4]), to: front)
        try front.seek(to: 1024 + room)
        #expect(front.isComplete)
        try front.finish()
        try file.commit()
    }

    /// Returns the names and sizes of consecutive boxes, with a note if the last one does not end with the file.
    private static func boxes(_ bytes: [UInt8]) -> [String] {
        var (names, offset) = ([String](), 0)
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self) + " \(size)")
            guard size >= 8 else { break }
            offset += size
        }
        return names + (offset == bytes.count ? [] : ["ends at \(offset) of \(bytes.count)"])
    }

    @Test(
        "the index comes before the media if it fits there, and after the media otherwise",
        arguments: [
            (100, 400, ["ftyp 24", "moov 100", "free 300", "mdat 1000"]),
            (400, 400, ["ftyp 24", "moov 400", "mdat 1000"]),
            (392, 400, ["ftyp 24", "moov 392", "free 8", "mdat 1000"]),
            (396, 400, ["ftyp 24", "free 400", "mdat 1000", "moov 396"]),
            (5000, 400, ["ftyp 24", "free 400", "mdat 1000", "moov 5000"]),
        ] as [(Int, Int64, [String])])
    func places(indexByteCount: Int, room: Int64, expected: [String]) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.mp4")
        try Self.mux(indexByteCount: indexByteCount, room: room, into: path)
        let bytes = try folder.bytes("a.mp4")
        #expect(Self.boxes(bytes) == expected)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: "mdat".utf8) })
        #expect(start - 4 == 24 + Int(room), "the media is where the muxer has put it")
    }

    @Test("a muxer without reserved space writes unchanged")
    func without() throws {
        let folder = try TemporaryFolder()
        let file = try OutputFile(path: folder.path("a"))
        let front = FrontIndex(file, room: 400)
        for name in ["ftyp", "mdat", "moov"] { try Self.write(Self.box(name, 50), to: front) }
        try front.seek(to: 50)
        try Self.write(Self.box("mdat", 50), to: front)
        try front.finish()
        try file.commit()
        #expect(Self.boxes(try folder.bytes("a")) == ["ftyp 50", "mdat 50", "moov 50"])
    }
}
