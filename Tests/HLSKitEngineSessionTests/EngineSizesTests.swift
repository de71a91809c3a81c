import HLSKitPlaylist
import HLSKitSelection
import Synchronization
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, segment sizes")
struct EngineSizesTests {
    /// A rule that records its inputs. It returns `variants` one after another, then repeats the last one.
    private struct Recorder: VariantSelector {
        final class Log: Sendable {
            let inputs = Mutex<[SelectionInput]>([])
        }

        let log: Log
        var variants: [Int]

        mutating func decide(_ input: SelectionInput) -> SelectionDecision {
            if let download = input.download {
                return SelectionDecision(variantID: download.variantID, explanation: "keep")
            }
            log.inputs.withLock { $0.append(input) }
            let next = variants.isEmpty ? nil : variants.removeFirst()
            let variant = input.candidates.first { next == nil ? $0.id == input.currentVariantID : $0.index == next }
            return SelectionDecision(
                variantID: variant?.id ?? AssetVariant.ID(rawValue: "none"), explanation: "as written")
        }
    }

    /// Plays two variants, `a` (3 Mbit/s, listed first) and `b` (1 Mbit/s), and returns the rule's inputs.
    private func inputs(
        _ variants: [Int] = [], averages: Bool = true, average: (Int) -> Int = { $0 * 4 / 5 }, bytes: Int = 100_000,
        audio: [String]? = nil, tags: (String, Int) -> [String]
    ) -> [SelectionInput] {
        var lines = ["#EXTM3U"]
        if audio != nil {
            lines.append(
                #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="en",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8""#)
        }
        for (name, rate) in [("a", 3_000_000), ("b", 1_000_000)] {
            lines.append(
                "#EXT-X-STREAM-INF:BANDWIDTH=\(rate)" + (averages ? ",AVERAGE-BANDWIDTH=\(average(rate))" : "")
                    + (audio == nil ? "" : #",AUDIO="aac""#))
            lines.append("\(name).m3u8")
        }
        var origin = ScriptedOrigin()
        origin.media = { _ in .media(bytes) }
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        for name in ["a", "b"] {
            var text = PlaylistText.numbered(0, count: 30, prefix: name, isEnded: true)
            for index in text.segments.indices { text.segments[index].tags = tags(name, index) }
            origin.answer("\(name).m3u8", .text(text))
        }
        if let audio {
            var text = PlaylistText.numbered(0, count: 30, prefix: "en", isEnded: true)
            for index in text.segments.indices { text.segments[index].tags = audio }
            origin.answer("en.m3u8", .text(text))
        }
        var configuration = EngineConfiguration()
        let log = Recorder.Log()
        configuration.selector = Recorder(log: log, variants: variants)
        var harness = EngineHarness(origin: origin, configuration: configuration)
        harness.open("main.m3u8")
        harness.control(.play)
        harness.runToEnd()
        #expect(harness.didPlayToEnd)
        return log.inputs.withLock { $0 }
    }

    /// Returns sizes by variant index, independent of the candidates' order.
    private func sizes(_ input: SelectionInput, _ position: Int = 0) -> [Int: Int] {
        guard input.upcoming[position].byteCounts.count == input.candidates.count else { return [:] }
        return Dictionary(uniqueKeysWithValues: zip(input.candidates.map(\.index), input.upcoming[position].byteCounts))
    }

    @Test(
        "if loaded segments exceed BANDWIDTH, the other variants' sizes are scaled up equally",
        arguments: [false, true])
    func understated(averages: Bool) throws {
        // Segments arrive with 6.4 Mbit/s of media instead of the declared 3 Mbit/s.
        let inputs = inputs(averages: averages, bytes: 3_200_000) { _, _ in [] }
        let last = try #require(inputs.last { $0.upcoming.count > 1 })
        let sizes = sizes(last)
        #expect(sizes[0] == 3_200_000)
        #expect(sizes[1].map { abs($0 - 1_066_666) < 10 } == true, "\(sizes)")
    }

    @Test("without sizes in the playlist, sizes are unknown, and the next 20 segments are described")
    func unreported() throws {
        let inputs = inputs(bytes: 1_200_000) { _, _ in [] }
        #expect(inputs.allSatisfy { $0.upcoming.allSatisfy(\.byteCounts.isEmpty) })
        #expect(inputs.first?.upcoming.count == 20)
        #expect(inputs.last?.upcoming.count == 1)
    }

    @Test("byte ranges determine the variant's sizes, and average bit rates those in other variants")
    func byteRanges() throws {
        let inputs = inputs { name, index in
            ["#EXT-X-BYTERANGE:\((name == "a" ? 300_000 : 150_000) + index)@\(index * 1_000_000)"]
        }
        let first = try #require(inputs.first)
        #expect(sizes(first) == [0: 300_001, 1: 100_000])
        #expect(sizes(first, 3) == [0: 300_004, 1: 100_001])
    }

    @Test("the exact segment sizes of a previous variant are remembered")
    func knownVariants() throws {
        let inputs = inputs([1, 1, 0]) { name, index in
            ["#EXT-X-BYTERANGE:\((name == "a" ? 300_000 : 150_000) + index)@\(index * 1_000_000)"]
        }
        let last = try #require(inputs.last)
        #expect(sizes(last) == [0: 300_029, 1: 150_029])
    }

    @Test("EXT-X-BITRATE determines the sizes of the following segments")
    func bitRates() throws {
        let inputs = inputs { _, index in ["#EXT-X-BITRATE:\(index < 5 ? 800 : 1600)"] }
        let first = try #require(inputs.first)
        #expect(sizes(first)[0] == 400_000)
        #expect(sizes(first, 10)[0] == 800_000)
    }

    @Test("the size of separate audio is added if its playlist declares it")
    func audio() throws {
        let inputs = inputs(audio: ["#EXT-X-BITRATE:80"]) { _, _ in ["#EXT-X-BITRATE:800"] }
        #expect(sizes(try #require(inputs.first))[0] == 440_000)
    }

    @Test("without AVERAGE-BANDWIDTH, loaded segments give sizes; unused variants scale by BANDWIDTH")
    func seenAverages() throws {
        // Each segment is 100 kB for 4 s.
        let inputs = inputs([0, 0, 0, 0, 1, 1, 1, 1], averages: false) { _, _ in [] }
        #expect(inputs.allSatisfy { $0.candidates.allSatisfy { $0.averageBandwidth == nil } })
        #expect(sizes(inputs[0]) == [:])
        #expect(sizes(inputs[3]) == [0: 100_000, 1: 33_333])
        #expect(sizes(try #require(inputs.last)) == [0: 100_000, 1: 100_000])
    }

    @Test("measured sizes override BANDWIDTH only from 10 % above it, and never a declared average")
    func boundedAverages() throws {
        let large = try #require(inputs([0, 0, 0, 0], averages: false, bytes: 1_600_000) { _, _ in [] }.last)
        #expect(sizes(large) == [0: 1_500_000, 1: 500_000])
        let larger = try #require(inputs([0, 0, 0, 0], averages: false, bytes: 2_000_000) { _, _ in [] }.last)
        #expect(sizes(larger) == [0: 2_000_000, 1: 666_666])
        let declared = try #require(inputs(bytes: 1_400_000) { _, _ in [] }.last)
        #expect(sizes(declared) == [:])
    }

    @Test(
        "loaded media corrects averages that are declared too low or too high",
        arguments: [(2_200_000, 1.0), (1_600_000, 1.0), (400_000, 1.15)])
    func wrongAverages(bytes: Int, margin: Double) throws {
        let inputs = inputs(bytes: bytes) { _, _ in [] }
        #expect(sizes(inputs[1]) == [:])
        let last = sizes(try #require(inputs.last { $0.upcoming.count > 1 }))
        #expect(last[0].map { abs($0 - Int(Double(bytes) * margin)) < 10 } == true, "\(last)")
        #expect(last[1].map { abs($0 - Int(Double(bytes) * margin / 3)) < 10 } == true, "\(last)")
    }

    @Test("the wrong average of one variant raises the sizes of others to 1.1 times their BANDWIDTH at most")
    func oneWrongAverage() throws {
        let inputs = inputs(average: { $0 == 3_000_000 ? 300_000 : 800_000 }, bytes: 1_200_000) { _, _ in [] }
        let last = sizes(try #require(inputs.last { $0.upcoming.count > 1 }))
        #expect(last == [0: 1_200_000, 1: 550_000])
    }
}
