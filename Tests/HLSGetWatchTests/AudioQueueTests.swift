import Testing

@testable import HLSGetWatch

@Suite("Audio at device positions")
struct SoundLineTests {
    private func line() -> AudioQueue { AudioQueue(channelCount: 1, tolerance: 3, capacity: 1000) }

    private func take(_ count: Int, from line: inout AudioQueue) -> [Float] {
        var samples = [Float](repeating: 9, count: count)
        samples.withUnsafeMutableBufferPointer { _ = line.take(into: $0) }
        return samples
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        /// The position, the first sample value and the number of samples. Values count up.
        var pieces: [(Int, Float, Int)]
        var heard: [Float]
        var late = 0
        var testDescription: String { name }
    }

    @Test(
        "audio plays at its sample position; gaps are silent",
        arguments: [
            Case(name: "nothing", pieces: [], heard: [0, 0, 0, 0]),
            Case(name: "at its place", pieces: [(1, 5, 2)], heard: [0, 5, 6, 0]),
            Case(name: "one after another", pieces: [(0, 1, 2), (2, 3, 2)], heard: [1, 2, 3, 4]),
            Case(name: "a small gap is none", pieces: [(0, 1, 2), (4, 3, 2)], heard: [1, 2, 3, 4, 0]),
            Case(name: "a small overlap is none", pieces: [(0, 1, 3), (1, 4, 2)], heard: [1, 2, 3, 4, 5, 0]),
            Case(name: "a larger gap is silence", pieces: [(0, 1, 1), (5, 2, 1)], heard: [1, 0, 0, 0, 0, 2, 0]),
            Case(
                name: "what comes later takes the place of what is there", pieces: [(0, 1, 8), (4, 20, 2)],
                heard: [1, 2, 3, 4, 20, 21, 0]),
            Case(name: "what is too late is cut", pieces: [(-2, 1, 4)], heard: [3, 4, 0], late: 2),
            Case(name: "what is much too late is dropped", pieces: [(-9, 1, 4)], heard: [0, 0], late: 4),
            Case(name: "what is too far ahead is dropped", pieces: [(1000, 1, 4), (Int.max, 1, 1)], heard: [0, 0]),
            Case(name: "places that are none", pieces: [(Int.min, 1, 4)], heard: [0]),
        ])
    func places(_ test: Case) {
        var line = line()
        for (place, first, count) in test.pieces {
            line.insert((0..<count).map { first + Float($0) }, at: place)
        }
        #expect(take(test.heard.count, from: &line) == test.heard)
        #expect(line.lateFrameCount == test.late)
    }

    @Test("periods of any length give the same audio", arguments: [1, 2, 3, 7, 64, 1000])
    func periods(_ length: Int) {
        var line = AudioQueue(channelCount: 2, tolerance: 3, capacity: 100_000)
        var (heard, next): ([Float], Int) = ([], 0)
        while heard.count < 2000 {
            while next < heard.count / 2 + length + 50 {
                line.insert((next * 2..<next * 2 + 20).map(Float.init), at: next)
                next += 10
            }
            var samples = [Float](repeating: 9, count: length * 2)
            samples.withUnsafeMutableBufferPointer { _ = line.take(into: $0) }
            heard += samples
        }
        #expect(heard == heard.indices.map(Float.init))
        #expect(line.lateFrameCount == 0)
    }

    @Test("the loudest sample and the presence of audio are reported")
    func peak() {
        var line = line()
        line.insert([0.25, -0.5], at: 2)
        var samples = [Float](repeating: 0, count: 2)
        let silence = samples.withUnsafeMutableBufferPointer { line.take(into: $0) }
        #expect(!silence.isAudio && silence.peak == 0)
        let audio = samples.withUnsafeMutableBufferPointer { line.take(into: $0) }
        #expect(audio.isAudio && audio.peak == 0.5)
    }

    @Test("a jump in one item drops that item's audio only; a shift moves all audio")
    func change() {
        var line = line()
        line.insert([1, 2], at: 0, source: 1)
        line.insert([3, 4], at: 2, source: 2)
        line.removeAll(of: 1)
        line.shift(by: 1)
        #expect(take(6, from: &line) == [0, 0, 0, 3, 4, 0])
    }
}
