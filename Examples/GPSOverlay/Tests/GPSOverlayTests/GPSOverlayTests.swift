import Foundation
import HLSKitCore
import Testing

@testable import GPSOverlay

@Suite("The GPS position of each frame", .timeLimit(.minutes(10)))
struct GPSOverlayTests {
    private static let sample = URL(fileURLWithPath: #filePath + "/../../../../../Tests/Fixtures/sample").standardized

    /// Writes the first segment of the sample with two events in it: a position at its start and another at 200 ms.
    private static func stream(in folder: URL) throws -> String {
        let file = try Data(contentsOf: sample.appendingPathComponent("video-180p.mp4"))
        var segment = event("52.5,13.4", at: 0) + event("48.1,11.5", at: 200)
        segment += [UInt8](file[830..<39_090])
        try Data(file[..<830]).write(to: folder.appendingPathComponent("map.mp4"))
        try Data(segment).write(to: folder.appendingPathComponent("0.m4s"))
        let list = """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="map.mp4"
            #EXTINF:4,
            0.m4s
            #EXT-X-ENDLIST

            """
        let url = folder.appendingPathComponent("list.m3u8")
        try Data(list.utf8).write(to: url)
        return url.absoluteString
    }

    private static func event(_ place: String, at milliseconds: UInt32) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let text = [3] + Array("GPS".utf8) + [0] + Array(place.utf8)
        let frame = Array("TXXX".utf8) + number(UInt32(text.count)) + [0, 0] + text
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
        var box = [1, 0, 0, 0] + number(1000) + number(0) + number(milliseconds) + number(.max) + number(milliseconds)
        box += Array("https://aomedia.org/emsg/ID3".utf8) + [0, 0] + tag
        return number(UInt32(box.count + 8)) + Array("emsg".utf8) + box
    }

    @Test("J11: each frame shows the position valid at its time")
    func places() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gps-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var lines: [String] = []
        try await GPSOverlay.play(try Self.stream(in: folder), count: 8, folder: folder, pacing: .unpaced) {
            lines.append($0)
        }
        #expect(lines.count == 8)
        #expect(Set(lines).count == 8)
        let files = try (0..<8).map { try Data(contentsOf: folder.appendingPathComponent("\($0).png")) }
        #expect(files.allSatisfy { $0.starts(with: [0x89, 0x50, 0x4e, 0x47]) })
    }

    @Test("text is drawn at the requested position only")
    func lettering() throws {
        var image = try #require(StillImage(width: 90, height: 90, pixels: [UInt8](repeating: 128, count: 90 * 90 * 4)))
        Lettering.draw("-1", onto: &image)
        func red(_ x: Int, _ y: Int) -> UInt8 { image.pixels[(y * 90 + x) * 4] }
        // The stroke of the minus sign, the dots beside it, and pixels outside the label.
        #expect(red(2, 83) == 255 && red(4, 83) == 255)
        #expect(red(2, 82) == 0 && red(5, 83) == 0)
        #expect(red(20, 83) == 128 && red(2, 60) == 128)
    }

    @Test("an unplayable stream throws its error")
    func failure() async {
        await #expect(throws: (any Error).self) {
            try await GPSOverlay.play(
                "file:///nonexistent/x.m3u8", count: 1, folder: FileManager.default.temporaryDirectory
            ) { _ in }
        }
    }
}
