import Foundation
import HLSKitMedia
import HLSKitPlaylist

/// Compares the packets from our demuxers with ffprobe's packets, segment by segment.
///
///     swift run -c release PacketComparison [--at-most N] URL…
///
/// `URL` is a multivariant or a media playlist. Each segment of each media playlist is parsed once, after its
/// initialization section. `--at-most` limits the number of segments per playlist, spread evenly. The tool needs
/// `curl`, `ffprobe` and, for AES-128, `openssl`. It counts differences that have a known reason
/// (`Tests/Fixtures/media/README.md`). It prints all other differences and then exits with status 1.
@main
struct Main {
    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        var atMost = Int.max
        if let index = arguments.firstIndex(of: "--at-most"), index + 1 < arguments.count {
            atMost = Int(arguments[index + 1]) ?? atMost
            arguments.removeSubrange(index...index + 1)
        }
        guard !arguments.isEmpty else {
            FileHandle.standardError.write(Data("usage: PacketComparison [--at-most N] URL…\n".utf8))
            exit(64)
        }
        var isEqual = true
        for url in arguments {
            var report = Report()
            do {
                for playlist in try SegmentSource.mediaPlaylists(at: url) {
                    try compare(playlist, atMost: atMost, report: &report)
                }
            } catch {
                report.differences.append("\(error)")
            }
            print(url, report)
            if !report.differences.isEmpty { isEqual = false }
        }
        if !isEqual { exit(1) }
    }

    private static func compare(_ playlist: MediaPlaylist, atMost: Int, report: inout Report) throws {
        let segments = Array(playlist.segments)
        let count = max(1, min(atMost, segments.count))
        let step = max(1, (segments.count + count - 1) / count)
        for index in stride(from: 0, to: segments.count, by: step) {
            let segment = segments[index]
            guard !segment.isGap else { continue }
            let source: SegmentSource
            do { source = try SegmentSource(segment, of: playlist) } catch {
                report.notes.append("\(segment.uri): \(error)")
                continue
            }
            guard report.seen.insert(source.name).inserted else { continue }
            var ours = OurPackets(source)
            guard !ours.isText else { continue }
            let theirs = try ProbedPackets(source)
            report.segmentCount += 1
            report.notes.append(contentsOf: ours.notes.map { "\(source.name): \($0)" })
            ours.compare(with: theirs, name: source.name, report: &report)
        }
    }
}

struct Report: CustomStringConvertible {
    var seen: Set<String> = []
    var segmentCount = 0
    var packetCount = 0
    /// The number of known differences, by their name in the README of the fixtures.
    var explained: [String: Int] = [:]
    var differences: [String] = []
    var notes: [String] = []

    var description: String {
        var lines = ["\(segmentCount) segments, \(packetCount) packets, \(differences.count) differences"]
        for (name, count) in explained.sorted(by: { $0.key < $1.key }) { lines.append("  \(count) × \(name)") }
        lines.append(contentsOf: differences.prefix(40).map { "  DIFFERS \($0)" })
        lines.append(contentsOf: notes.prefix(8).map { "  note \($0)" })
        return lines.joined(separator: "\n")
    }
}
