import Foundation
import HLSKitMedia
import HLSKitPlaylist

/// Measures the speed of the demuxers on one core, next to ffmpeg on the same bytes.
///
///     swift run -c release DemuxBenchmarks FOLDER…
///
/// `FOLDER` contains a media playlist and its segments as files, or is the path of the playlist file. If the playlist
/// is a multivariant playlist, the variant with the highest bit rate is measured. All segments are in memory. A
/// separate demuxer receives each segment in pieces of 64 KiB and returns every sample. The result is the best of seven
/// runs. ffmpeg copies the same bytes without decoding (`-c copy -f null`) in one process with one thread. Its result
/// is its processor time minus the time of a run without work.
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

    /// Returns the processor time of this thread, which does all the work.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
