import Foundation
import HLSKitMedia
import HLSKitPlaylist

/// How fast the demuxers are on one core, next to ffmpeg on the same bytes.
///
///     swift run -c release DemuxBenchmarks FOLDER…
///
/// `FOLDER` has a media playlist and its segments as files, or is the playlist's file; of a multivariant playlist the
/// variant of the highest bit rate is taken. All segments are in memory; each is fed in pieces of 64 KiB to a demuxer
/// of its own, and every sample is taken. The best of seven turns counts. ffmpeg copies the same bytes without
/// decoding (`-c copy -f null`) in one process, with one thread; its figure is of its processor time less that of a
/// start without work.
@main
struct Main {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard !arguments.isEmpty else {
            FileHandle.standardError.write(Data("usage: DemuxBenchmarks FOLDER|PLAYLIST…\n".utf8))
            exit(64)
        }
        for argument in arguments {
            let set = try SegmentSet(at: argument)
            let ours = try bestOfTurns(set)
            let megabytes = Double(set.byteCount) / 1e6
            var line =
                "\(argument): \(set.segments.count) segments, \(Int(megabytes)) MB, \(ours.sampleCount) samples: "
            line += "\(Int(megabytes / ours.seconds)) MB/s"
            if let theirs = try FFmpegCopy.seconds(set) {
                line += ", ffmpeg -c copy \(Int(megabytes / theirs)) MB/s"
                line += String(format: ", %.1f times as fast", theirs / ours.seconds)
            }
            print(line)
        }
    }

    private static func bestOfTurns(_ set: SegmentSet) throws -> (seconds: Double, sampleCount: Int) {
        var best = Double.infinity
        var count = 0
        for _ in 0..<7 {
            let start = processorSeconds()
            count = try set.demux()
            best = min(best, processorSeconds() - start)
        }
        return (best, count)
    }

    /// Of this thread, which does all the work.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
