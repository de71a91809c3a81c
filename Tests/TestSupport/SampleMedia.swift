import Foundation

/// The bundled sample of `Tests/Fixtures/sample`: 40 s, three variants, separate audio and subtitles.
package enum SampleMedia {
    package static let frameCount = 1000
    package static let frameRate = 25
    package static let segmentCount = 10

    package static let fixtures = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures").path
    package static let folder = fixtures + "/sample"

    /// Returns the hashes (first eight digits of the MD5) of all frames of `video-<name>`, as ffmpeg decodes them.
    package static func frameHashes(of name: String) throws -> [String] {
        try String(contentsOfFile: "\(fixtures)/oracle/video-\(name).md5", encoding: .utf8).split(separator: "\n")
            .map(String.init)
    }

    package static func copy(to root: ScratchFolder, as name: String = "sample") throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try root.write(
                Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))), to: "\(name)/\(file)")
        }
    }

    package struct Rendition: Sendable {
        package var initializationSection: [UInt8]
        package var segments: [[UInt8]]
        package var durations: [String]
    }

    /// - Parameter name: The base name of the files, such as `video-180p` or `audio-en`.
    package static func rendition(_ name: String) throws -> Rendition {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).mp4")))
        let playlist = try String(contentsOfFile: "\(folder)/\(name).m3u8", encoding: .utf8)
        func slice(_ range: Substring) throws -> [UInt8] {
            let numbers = range.split(separator: "@").compactMap { Int($0) }
            guard numbers.count == 2, numbers[0] + numbers[1] <= bytes.count else {
                throw Tool.Failure(description: "the sample has no range \(range)")
            }
            return Array(bytes[numbers[1]..<numbers[0] + numbers[1]])
        }
        var result = Rendition(initializationSection: [], segments: [], durations: [])
        for line in playlist.split(separator: "\n") {
            if line.hasPrefix("#EXT-X-MAP:") {
                result.initializationSection = try slice(line.split(separator: "\"")[3])
            } else if line.hasPrefix("#EXT-X-BYTERANGE:") {
                result.segments.append(try slice(line.dropFirst("#EXT-X-BYTERANGE:".count)))
            } else if line.hasPrefix("#EXTINF:") {
                result.durations.append(String(line.dropFirst("#EXTINF:".count).dropLast()))
            }
        }
        return result
    }
}
