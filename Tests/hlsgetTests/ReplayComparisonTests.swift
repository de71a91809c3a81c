import HLSGetKit
import HLSKitCore
import HLSKitSimulation
import Testing

@testable import hlsget

@Suite("Comparison in replay")
struct ReplayComparisonTests {
    @Test(
        "the result is equal, equal in another order, or the first difference",
        arguments: [
            ("abc", "abc", false, "decided as recorded: the same 3 events"),
            ("abc", "acb", false, "decided as recorded: the same 3 events, 2 of them in a different order"),
            ("abc", "abd", false, "event 3 of 3 differs: recorded \"warning c\", now \"warning d\""),
            ("abc", "ab", false, "the same 2 events, then 2 instead of 3"),
            ("abc", "ab", true, "decided as recorded: the same 2 events"),
            ("ab", "abc", true, "the same 2 events, then 3 instead of 2"),
        ])
    func comparison(recorded: String, now: String, isCutOff: Bool, line: String) {
        func log(_ names: String) -> EventLog {
            EventLog(names.map { PlayerEvent(hostTime: .zero, kind: .warning(String($0))) })
        }
        let result = ReplaySession.Result(log: log(now), summary: PlaySummary(url: "x"))
        #expect(result.comparison(with: log(recorded).decisions, isCutOff: isCutOff) == line)
    }
}
