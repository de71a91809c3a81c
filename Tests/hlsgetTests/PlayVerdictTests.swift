import HLSGetKit
import HLSKitCore
import Testing

@testable import hlsget

@Suite("Exit status of a play")
struct PlayVerdictTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout PlayVerdict) -> Void
        var error: (code: HLSError.Code, cause: String, detail: String?)?
    }

    /// A session of 3:00 that has reached its end without any output.
    private static var verdict: PlayVerdict {
        var verdict = PlayVerdict(url: "u")
        verdict.state.duration = MediaTime(value: 180, timescale: 1)
        verdict.state.currentTime = MediaTime(value: 180, timescale: 1)
        verdict.state.statistics.numberOfSegments = 3
        verdict.media = [.video, .audio]
        return verdict
    }

    private static func output(_ path: String, video: Bool = true, audio: Bool = true, isEmpty: Bool = true)
        -> PlayVerdict.Output
    {
        PlayVerdict.Output(path: path, media: (video, audio), isEmpty: isEmpty)
    }

    private static let rows = [
        Row(testDescription: "played", change: { $0.state.statistics.numberOfDecodedVideoFrames = 1 }),
        Row(testDescription: "sound alone", change: { $0.state.statistics.numberOfDecodedAudioFrames = 1 }),
        Row(testDescription: "loaded", change: { $0.decodes = false }),
        Row(testDescription: "written", change: { $0.outputs = [output("a.ts", isEmpty: false)] }),
        Row(
            testDescription: "from behind the end", change: { $0.from = .fromStart(.seconds(180)) },
            error: (.notAvailable, "the stream ends before the requested start", "it lasts 3:00")),
        Row(
            testDescription: "to before the joining point",
            change: {
                $0.to = .fromStart(.seconds(3))
                $0.state.duration = .indefinite
                $0.state.currentTime = MediaTime(value: 18, timescale: 1)
            }, error: (.notAvailable, "--to is before the point where playback began", "it began at 0:18")),
        Row(
            testDescription: "from behind the end, into a file",
            change: {
                $0.from = .fromStart(.seconds(600))
                $0.outputs = [output("a.mp4")]
            },
            error: (
                .notAvailable, "the stream ends before the requested start",
                "it lasts 3:00; nothing was written to a.mp4"
            )),
        Row(
            testDescription: "no pictures",
            change: {
                $0.media = [.audio]
                $0.outputs = [output("a.y4m", audio: false)]
            }, error: (.badMedia, "the stream has no video", "nothing was written to a.y4m")),
        Row(
            testDescription: "no sound for one of two, which was there before",
            change: {
                $0.media = [.video]
                $0.outputs = [output("a.ts", isEmpty: false), output("a.wav", video: false)]
                $0.outputs[1].hasOldFile = true
            },
            error: (
                .badMedia, "the stream has no audio", "nothing was written to a.wav, the existing file is unchanged"
            )),
        Row(
            testDescription: "no frame without earlier ones",
            change: {
                $0.from = .fromStart(.seconds(170))
                $0.outputs = [output("a.mp4", isEmpty: false)]
                $0.outputs[0].lacksVideo = true
            },
            error: (.incomplete, "incomplete", "the file has no video: each frame depends on one before the start")),
        Row(
            testDescription: "nothing decodes", change: { $0.state.statistics.numberOfDamagedSamples = 375 },
            error: (.badMedia, "nothing in the stream could be decoded", "375 samples damaged")),
        Row(
            testDescription: "no data arrived", change: { $0.state.statistics.numberOfSegments = 0 },
            error: (.notAvailable, "the stream ended before there was anything to play", nil)),
        Row(
            testDescription: "from a segment behind the last",
            change: {
                $0.from = .segment(99)
                $0.state.statistics.numberOfSegments = 0
            }, error: (.notAvailable, "the stream ends before the requested start", nil)),
        Row(
            testDescription: "over before anything arrived",
            change: {
                $0.endsByClock = true
                $0.media = []
                $0.state.statistics.numberOfSegments = 0
                $0.outputs = [output("a.ts")]
            },
            error: (
                .notAvailable, "--until came before there was anything to play", "nothing was written to a.ts"
            )),
        Row(
            testDescription: "over before anything was decoded", change: { $0.endsByClock = true },
            error: (.notAvailable, "--until came before there was anything to play", nil)),
        Row(
            testDescription: "ended by a key before anything was written",
            change: {
                $0.endsByKey = true
                $0.state.statistics.numberOfSegments = 1
                $0.outputs = [output("a.ts")]
            },
            error: (
                .notAvailable, "ended before there was anything to write", "nothing was written to a.ts"
            )),
        Row(
            testDescription: "ended by a key when something was written",
            change: {
                $0.endsByKey = true
                $0.outputs = [output("a.ts", isEmpty: false)]
            }),
        Row(
            testDescription: "over when enough was played",
            change: {
                $0.endsByClock = true
                $0.state.statistics.numberOfDecodedVideoFrames = 1
            }),
        Row(testDescription: "no samples", change: { _ in }, error: (.badMedia, "the stream has nothing to play", nil)),
    ]

    @Test("without played or written media, the verdict gives the reason", arguments: rows)
    func failure(_ row: Row) {
        var verdict = Self.verdict
        row.change(&verdict)
        let failure = verdict.failure
        #expect(failure?.code == row.error?.code)
        #expect(failure?.cause == row.error?.cause)
        #expect(failure?.detail == row.error?.detail)
    }
}
