import Foundation
import HLSKitPlayback
import TestSupport
import Testing

@testable import HLSKitOutput

@Suite("Files on disk during playback", .timeLimit(.minutes(10)))
struct FlushTests {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case hashes, audio, samples, frames
        var testDescription: String { rawValue }

        func writer(_ file: consuming sending OutputFile) throws -> any MediaWriter {
            switch self {
            case .hashes: try FrameHashWriter(file: file)
            case .audio: PCMWriter(file: file, format: .wav)
            case .samples: Remuxer(file: file, container: .ts)
            case .frames: RawVideoWriter(file: file)
            }
        }
    }

    @Test("delivered media is in the file a second of media later, however little it is", arguments: Kind.allCases)
    func flush(_ kind: Kind) throws {
        let folder = try TemporaryFolder()
        let sample = try VirtualSample(end: .seconds(12))
        sample.item.add(try kind.writer(try OutputFile(path: folder.path("a"))))
        var sizes: [Int] = []
        try sample.play { time in
            if time.components.attoseconds == 0 { sizes.append((try? folder.bytes("a.part").count) ?? 0) }
        }
        // Muxers wait for the other track, so the file may grow only every two seconds.
        let growing = sizes[3..<11]
        #expect(zip(growing, growing.dropFirst(2)).allSatisfy { $0 < $1 })
        #expect(try #require(growing.first) > 0)
    }

    @Test("a pipe's reader gets media when it is due, not a second later", arguments: [Kind.hashes, .audio])
    func pipe(_ kind: Kind) throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("a"), 0o600) == 0)
        let reader = open(folder.path("a"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let sample = try VirtualSample(end: .seconds(3))
        sample.item.add(try kind.writer(try OutputFile(path: folder.path("a"))))
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var counts: [Int] = []
        try sample.play { time in
            if time.components.attoseconds % 100_000_000_000_000_000 == 0 { counts.append(0) }
            let count = read(reader, &bytes, bytes.count)
            if count > 0, !counts.isEmpty { counts[counts.count - 1] += count }
        }
        let begun = counts.drop { $0 == 0 }
        #expect(begun.count >= 25)
        #expect(begun.prefix(25).allSatisfy { $0 > 0 }, "\(counts)")
    }
}
