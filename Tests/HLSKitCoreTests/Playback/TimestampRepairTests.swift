import Testing

@testable import HLSKitPlayback

@Suite("Repair of wrong timestamps")
struct TimestampRepairTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The times in seconds of samples of one second in a segment of ten seconds.
        var input: [Double]
        var output: [Double]
        var known: [Double] = []
    }

    private static let cases = [
        Case(testDescription: "times that fit stay", input: [0, 1, 3, 2, 4, 20, 5], output: [0, 1, 3, 2, 4, 20, 5]),
        Case(
            testDescription: "one that is damaged is put behind the one before", input: [0, 1, -23_848, 3, 4],
            output: [0, 1, 2, 3, 4]),
        Case(
            testDescription: "after a jump time goes on", input: [0, 1, 3600, 3601, 3603, 3602],
            output: [0, 1, 2, 3, 5, 4]),
        Case(
            testDescription: "a jump and back", input: [0, 1, 3600, 3601, 4, 5], output: [0, 1, 2, 3, 4, 5]),
        Case(
            testDescription: "the first is damaged", input: [9000, 1, 2, 3], output: [9000, 9001, 9002, 9003]),
        Case(
            testDescription: "tracks that jump together stay together", input: [0, 1, 3600, 3601],
            output: [0, 1, 2.25, 3.25], known: [-3597.75]),
        Case(
            testDescription: "a clock that is set back by some seconds", input: [0, 1, 2, 3, 4, 5, 6, 1, 2, 3],
            output: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        Case(
            testDescription: "another track's jump is its own", input: [0, 1, 3600, 3601], output: [0, 1, 2, 3],
            known: [-1800]),
    ]

    @Test("R37: a sample far from the previous one continues from there", arguments: cases)
    func repaired(_ example: Case) {
        var repair = TimestampRepair()
        let times = example.input.map { seconds in
            let correction = repair.correction(
                at: .seconds(seconds), decodedAt: .seconds(seconds), duration: .seconds(1), limit: .seconds(20),
                known: example.known.map { .seconds($0) })
            return seconds + correction / .seconds(1)
        }
        #expect(times == example.output)
    }

    @Test("samples without a duration follow each other closely")
    func withoutDuration() {
        var repair = TimestampRepair()
        _ = repair.correction(at: .seconds(5), decodedAt: .seconds(5), duration: .zero, limit: .seconds(20), known: [])
        let correction = repair.correction(
            at: .seconds(500), decodedAt: .seconds(500), duration: .zero, limit: .seconds(20), known: [])
        #expect(correction == .milliseconds(5040 - 500_000))
    }
}
