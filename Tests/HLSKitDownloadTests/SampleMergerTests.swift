import HLSKitMedia
import Testing

@testable import HLSKitDownload

@Suite("Merging tracks")
struct SampleMergerTests {
    private let video = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 1)
    private let audio = MediaTrack(id: 2, mediaType: .audio, codec: .aac, timescale: 1)

    private func sample(_ seconds: Int) -> SampleMerger.Input {
        .sample(
            MediaSample(trackID: 0, pts: Int64(seconds), dts: Int64(seconds), isSync: true, data: SampleData([])),
            itemTime: .seconds(seconds), time: .seconds(seconds))
    }

    /// Returns `T` for tracks, and the slot and second of each sample.
    private func taken(_ merger: inout SampleMerger) throws -> [String] {
        var words: [String] = []
        try merger.take { output in
            switch output {
            case .tracks: words.append("T")
            case .sample(let sample, let slot, _): words.append("\(slot):\(sample.pts)")
            }
        }
        return words
    }

    private func merger() throws -> SampleMerger {
        var merger = SampleMerger()
        _ = merger.addSlot(isSparse: false)
        _ = merger.addSlot(isSparse: false)
        merger.add(.track(video, timeline: 0, time: .zero), to: 0)
        merger.add(.track(audio, timeline: 0, time: .zero), to: 1)
        return merger
    }

    @Test("S03: samples are sorted by decoding time and released once no earlier one can come")
    func order() throws {
        var merger = try merger()
        for second in [0, 2, 4] { merger.add(sample(second), to: 0) }
        #expect(try taken(&merger) == ["T"])
        for second in [1, 3] { merger.add(sample(second), to: 1) }
        #expect(try taken(&merger) == ["0:0", "1:1", "0:2", "1:3"])
        merger.finish(1)
        #expect(try taken(&merger) == ["0:4"])
    }

    @Test("S03: a temporarily silent track delays no other")
    func silence() throws {
        var merger = try merger()
        for second in 0..<10 { merger.add(sample(second), to: 0) }
        merger.advance(1, to: .seconds(3))
        #expect(try taken(&merger) == ["T", "0:0", "0:1", "0:2"])
        merger.add(sample(5), to: 1)
        #expect(try taken(&merger) == ["0:3", "0:4", "0:5", "1:5"])
        merger.finish(1)
        #expect(try taken(&merger).count == 4)
    }

    @Test("S03: tracks that change at a discontinuity are announced together, after all earlier samples")
    func change() throws {
        var merger = try merger()
        for slot in 0...1 {
            merger.add(sample(0), to: slot)
            merger.add(sample(1), to: slot)
        }
        merger.add(.track(video, timeline: 1, time: .seconds(2)), to: 0)
        merger.add(sample(2), to: 0)
        #expect(try taken(&merger) == ["T", "0:0", "1:0", "0:1", "1:1"])
        merger.add(sample(2), to: 1)
        merger.add(.track(audio, timeline: 1, time: .seconds(2)), to: 1)
        merger.add(sample(3), to: 1)
        #expect(try taken(&merger) == ["1:2", "T", "0:2"])
    }

    @Test("S03: text delays no other track and arrives at its time")
    func sparse() throws {
        var merger = try merger()
        let text = merger.addSlot(isSparse: true)
        for second in 0..<4 {
            merger.add(sample(second), to: 0)
            merger.add(sample(second), to: 1)
        }
        merger.add(.track(video, timeline: 0, time: .zero), to: text)
        merger.add(sample(2), to: text)
        merger.finish(0)
        merger.finish(1)
        let words = try taken(&merger)
        #expect(words.first == "T")
        #expect(words.firstIndex(of: "2:2") == words.firstIndex(of: "1:2").map { $0 + 1 })
        #expect(words.count == 10)
    }
}
