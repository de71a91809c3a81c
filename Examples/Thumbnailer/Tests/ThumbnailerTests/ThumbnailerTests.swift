import Foundation
import Testing

@testable import Thumbnailer

@Suite("Previews of a stream", .timeLimit(.minutes(10)))
struct ThumbnailerTests {
    @Test("each preview is a JPEG file named after its time")
    func sample() async throws {
        let sample = URL(fileURLWithPath: #filePath + "/../../../../../Tests/Fixtures/sample/master.m3u8").standardized
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = try await Thumbnailer.previews(of: sample.absoluteString, count: 4, in: folder)
        #expect(
            lines == [
                "5.jpg: 320x180, the picture of 4.0 s", "15.jpg: 320x180, the picture of 16.0 s",
                "25.jpg: 320x180, the picture of 24.0 s", "35.jpg: 320x180, the picture of 36.0 s",
            ])
        for number in [5, 15, 25, 35] {
            let file = try Data(contentsOf: folder.appendingPathComponent("\(number).jpg"))
            #expect(file.starts(with: [0xFF, 0xD8, 0xFF]))
        }
    }
}
