import Foundation
import HLSKitMedia
import Testing

@Suite struct DemuxerCorpusTests {
    struct Input: CustomStringConvertible, Sendable {
        var format: DemuxerChecks.Format
        var file: URL
        var description: String { "\(format.rawValue)/\(file.lastPathComponent)" }
        var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: file)) } }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func files(_ folder: String) -> [URL] {
        let found = try? FileManager.default.contentsOfDirectory(
            at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return (found ?? []).sorted { $0.path < $1.path }
    }

    static let corpus = DemuxerChecks.Format.allCases.flatMap { format in
        files("Fuzz/corpus-media/\(format.rawValue)").map { Input(format: format, file: $0) }
    }

    /// The fixture files. Each is read as every format, because a demuxer must also survive files of another format.
    static let fixtures = ["Tests/Fixtures/media", "Tests/Fixtures/media/mp4"].flatMap { files($0) }
        .filter { !["txt", "md", ""].contains($0.pathExtension) }

    @Test("every format has a corpus", arguments: DemuxerChecks.Format.allCases)
    func exists(_ format: DemuxerChecks.Format) { #expect(Self.corpus.contains { $0.format == format }) }

    @Test("every corpus input satisfies the invariants", arguments: corpus)
    func replay(_ input: Input) throws { try DemuxerChecks.check(try input.bytes, as: input.format) }

    @Test("a fixture satisfies the invariants in every demuxer", arguments: fixtures)
    func mistaken(_ file: URL) throws {
        let bytes = [UInt8](try Data(contentsOf: file))
        for format in DemuxerChecks.Format.allCases { try DemuxerChecks.check(bytes, as: format) }
    }
}
