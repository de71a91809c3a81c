import Foundation
import Testing

@testable import PlayToFrames

@Suite("A stream played to frames", .timeLimit(.minutes(10)))
struct PlayToFramesTests {
    @Test("each frame has its time and size")
    func sample() async throws {
        let sample = URL(fileURLWithPath: #filePath + "/../../../../../Tests/Fixtures/sample/master.m3u8").standardized
        var lines: [String] = []
        try await PlayToFrames.play(sample.absoluteString, count: 2000, pacing: .unpaced) { lines.append($0) }
        let times = lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        #expect(lines.allSatisfy { $0.contains(" ms: 320x180") })
        #expect(times == (0..<1000).map { 40 * $0 })
    }

    @Test("an unplayable stream throws its error")
    func failure() async {
        await #expect(throws: (any Error).self) {
            try await PlayToFrames.play("file:///nonexistent/x.m3u8", count: 1) { _ in }
        }
    }
}
