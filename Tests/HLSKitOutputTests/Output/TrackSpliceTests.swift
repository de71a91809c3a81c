import HLSKitMedia
import HLSKitTime
import Testing

@testable import HLSKitOutput

@Suite("Track changes at different times")
struct TrackSpliceTests {
    /// Samples and track changes in order. `V2.5` and `A2.5` are samples of video and audio at 2.5 s, and `V2.5!` is a
    /// sync sample. `V*` and `A*` are changes of the track.
    struct Case: Sendable, CustomTestStringConvertible {
        var what: String
        var input: String
        var output: String
        var testDescription: String { what }
    }

    private static let cases = [
        Case(what: "nothing waits without a change", input: "V0! A0 V1 A1", output: "V0! A0 V1 A1"),
        Case(
            what: "sound that is ahead waits for pictures",
            input: "A0 A1 A* A2 A3 V0! V1 V* V2! V3", output: "A0 A1 V0! V1 [VA] V2! A2 A3 V3"),
        Case(
            what: "pictures that are ahead wait for sound",
            input: "V0! V1 V* V2! V3 A0 A1 A1.9 A* A2 A3", output: "V0! V1 A0 A1 A1.9 [VA] V2! V3 A2 A3"),
        Case(
            what: "sound that stays the same is cut where pictures change",
            input: "V0! V1 V* V2! V3 A0 A1 A2 A3", output: "V0! V1 A0 A1 [V] V2! V3 A2 A3"),
        Case(
            what: "pictures that stay the same are cut at one that needs none before it",
            input: "A0 A* A2 A3 V0! V1.8 V1.96! V2.2 V3", output: "A0 V0! V1.8 [A] V1.96! V2.2 V3 A2 A3"),
        Case(
            what: "pictures that could begin a part wait a moment for a change of sound",
            input: "V0! A0 V1 V1.9 V2! V2.2 A1.5 A* A2 A3 V4!",
            output: "V0! A0 V1 V1.9 A1.5 [A] V2! V2.2 A2 A3 V4!"),
        Case(
            what: "but no longer than two seconds",
            input: "V0! A0 V1 V2! V2.5 V4.1 A1.5 A5", output: "V0! A0 V1 V2! V2.5 V4.1 A1.5 A5"),
        Case(
            what: "pictures go on to where others need none before them, though sound has changed long before",
            input: "A0 A* A2 A3 V0! V1.8 V2.2 V3 V4 V6! V7", output: "A0 V0! V1.8 V2.2 V3 V4 [A] V6! A2 A3 V7"),
        Case(
            what: "sound that begins late begins with the next such picture",
            input: "V0! V1 A* A5 V2 A6 V4 V5 V7! V8", output: "V0! V1 V2 V4 V5 [A] V7! A5 A6 V8"),
        Case(
            what: "two changes of one track come one after the other",
            input: "A0 A* A5 A* A10 A11 V0! V* V5! V9 V* V10!", output: "A0 V0! [VA] V5! A5 V9 [VA] V10! A10 A11"),
        Case(
            what: "at the end nothing waits any more",
            input: "V0! A0 A* A2 A3 V1", output: "V0! A0 V1 [A] A2 A3"),
        Case(what: "a change behind which nothing comes is none", input: "V0! V* A0 A1", output: "V0! A0 A1"),
    ]

    @Test("S03: a change is applied at one position in all tracks", arguments: cases)
    func order(_ example: Case) {
        var splice = TrackSplice()
        var words: [String] = []
        let types: [MediaKind] = [.video, .audio]
        func take() {
            for output in splice.take(types) {
                switch output {
                case .sample(let entry): words.append(String(decoding: entry.sample.data.bytes, as: UTF8.self))
                case .change(let tracks):
                    words.append("[" + tracks.keys.sorted().map { $0 == 0 ? "V" : "A" }.joined() + "]")
                }
            }
        }
        for word in example.input.split(separator: " ") {
            let index = word.first == "V" ? 0 : 1
            let track = MediaTrack(id: index, mediaType: types[index], codec: .h264, timescale: 1000)
            if word.hasSuffix("*") {
                splice.change(index, to: track)
            } else {
                let milliseconds = Int64((Double(word.dropFirst().prefix { $0 != "!" }) ?? 0) * 1000)
                let sample = MediaSample(
                    trackID: index, pts: milliseconds, dts: milliseconds, isSync: word.hasSuffix("!"),
                    data: SampleData(Array(word.utf8)))
                splice.add(
                    .init(sample: sample, index: index, itemTime: MediaTime(value: milliseconds, timescale: 1000)))
            }
            take()
        }
        splice.finish()
        take()
        #expect(words.filter { $0 != "[]" }.joined(separator: " ") == example.output)
        #expect(!splice.isPending)
    }
}

extension SampleData {
    fileprivate var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
