import Testing

@testable import HLSKitPlayback

@Suite("Frame of a seek")
struct SoughtPictureTests {
    /// Takes frames of 40 ms, named by their times. Returns the found frames and the ones after them.
    private static func run(_ times: [Int], seek: Int) -> (found: [Int], after: [Int], replaced: Int) {
        var sought = SeekFrameCandidate<Int>()
        sought.seek(.milliseconds(seek))
        var result: (found: [Int], after: [Int], replaced: Int) = ([], [], 0)
        for time in times {
            guard sought.isSought else {
                result.after.append(time)
                continue
            }
            let outcome = sought.take(time, at: .milliseconds(time), length: .milliseconds(40))
            if outcome.isReplaced { result.replaced += 1 }
            if let found = outcome.found { result.found.append(found) }
            if outcome.isBehind { result.after.append(time) }
        }
        if let last = sought.takeLast() { result.found.append(last) }
        return result
    }

    @Test(
        "the sought frame is the last one at or before the time, or else the first",
        arguments: [
            ([0, 40, 80, 120], 80, [80], [120]),
            ([0, 40, 80, 120], 95, [80], [120]),
            ([0, 40, 200, 240], 150, [40], [200, 240]),
            ([100, 140], 50, [], [100, 140]),
            ([0, 40], 500, [40], []),
            ([], 500, [], []),
        ] as [([Int], Int, [Int], [Int])])
    func found(times: [Int], seek: Int, found: [Int], after: [Int]) {
        let result = Self.run(times, seek: seek)
        #expect(result.found == found)
        #expect(result.after == after)
    }

    @Test("frames on the way to it are counted")
    func replaced() { #expect(Self.run([0, 40, 80, 120], seek: 130).replaced == 3) }

    @Test("when decoding restarts, the held frame is dropped")
    func forgotten() {
        var sought = SeekFrameCandidate<Int>()
        sought.seek(.seconds(1))
        _ = sought.take(1, at: .zero, length: .milliseconds(40))
        sought.forgetCandidate()
        #expect(sought.isSought)
        #expect(sought.takeLast() == nil)
    }

    @Test("optional frames count as skipped if a later one arrives without them")
    func optional() {
        var frames = SkippableFrames()
        for pts: Int64 in [10, 30, 20, 50] { frames.add(pts) }
        #expect(frames.takeSkipped(upTo: 20) == 1)
        #expect(frames.takeSkipped(upTo: 40) == 1)
        #expect(frames.takeSkipped(upTo: .max) == 1)
        #expect(frames.takeSkipped(upTo: .max) == 0)
    }
}
