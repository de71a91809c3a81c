import Testing

@testable import HLSKitPlayback

@Suite("Decoding effort")
struct DecodingEffortTests {
    struct Case: CustomTestStringConvertible {
        var testDescription: String
        /// The lateness in milliseconds, and whether decoding can start at the sample.
        var samples: [(Int, Bool)]
        var steps: [DecodingEffort.Step]
    }

    @Test(
        "late samples are decoded with less effort, then skipped",
        arguments: [
            Case(
                testDescription: "in time", samples: [(-50, true), (-50, false), (100, false)],
                steps: [.decode, .decode, .decode]),
            Case(
                testDescription: "a little late, until it has caught up",
                samples: [(101, false), (60, false), (1, false), (0, false), (50, false)],
                steps: [.decodeReferences, .decodeReferences, .decodeReferences, .decode, .decode]),
            Case(
                testDescription: "far behind: up to where it can start again",
                samples: [(1001, false), (500, false), (-100, false), (-300, true), (-260, false)],
                steps: [.skip, .skip, .skip, .decode, .decode]),
            Case(
                testDescription: "far behind, and still late where it starts again",
                samples: [(1500, false), (1100, true), (900, false), (400, true), (300, false)],
                steps: [.skip, .skip, .skip, .decodeReferences, .decodeReferences]),
        ])
    func steps(_ test: Case) {
        var effort = DecodingEffort()
        #expect(test.samples.map { effort.step(isSync: $0.1, lateness: .milliseconds($0.0)) } == test.steps)
    }
}
