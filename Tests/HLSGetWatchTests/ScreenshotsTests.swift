import Foundation
import HLSKitCore
import TestSupport
import Testing

@testable import HLSGetWatch

@Suite("Screenshots")
struct ScreenshotsTests {
    @Test(
        "a file has the name of the stream and the time of the frame",
        arguments: [
            (MediaTime.zero, 1, "film-0.00.000.jpg"),
            (MediaTime(value: 3_723_500, timescale: 1000), 1, "film-1.02.03.500.jpg"),
            (MediaTime(value: 1, timescale: 25), 2, "film-0.00.040-2.jpg"), (.seconds(-5), 1, "film-0.00.000.jpg"),
            (.indefinite, 1, "film-0.00.000.jpg"),
            (MediaTime(value: 59_999_6, timescale: 10_000), 1, "film-1.00.000.jpg"),
        ])
    func names(time: MediaTime, number: Int, name: String) {
        #expect(Screenshots(name: "film").path(at: time, number: number) == name)
        #expect(Screenshots(folder: "a/b", name: "film").path(at: time, number: number) == "a/b/\(name)")
    }

    @Test("a screenshot makes its folder and replaces no file")
    func save() throws {
        let folder = try ScratchFolder()
        let screenshots = Screenshots(folder: folder.path + "/shots", name: "film")
        let image = try #require(
            StillImage(width: 16, height: 16, pixels: [UInt8](repeating: 128, count: 16 * 16 * 4)))
        let first = try screenshots.save(image, at: .seconds(1))
        let second = try screenshots.save(image, at: .seconds(1))
        #expect(first.hasSuffix("/shots/film-0.01.000.jpg") && second.hasSuffix("/shots/film-0.01.000-2.jpg"))
        let bytes = try #require(FileManager.default.contents(atPath: first))
        #expect(bytes.starts(with: [0xFF, 0xD8]) && bytes == FileManager.default.contents(atPath: second))
    }
}
