/// The values that one receiver of client data has received in a session, and the number of the next report.
///
/// Source: CTA-5004-B, keys `sn`, `msd`, `bs`, `bsd` and `ec`.
struct ReportSequence: Sendable {
    private var number = 0
    private var starvationCount = 0
    private var reportedStarvationCount = 0
    private var reportedErrorCount = 0
    private var hasReportedStart = false

    struct News: Sendable, Hashable {
        var number = 0
        var isStarved = false
        var starvations: [Duration] = []
        var startDelay: Duration?
        var errors: [String] = []
    }

    mutating func next(_ facts: ClientDataFacts) -> News {
        var news = News(number: number)
        number += 1
        // While the buffer is empty, each report says so.
        news.isStarved = facts.starvationCount > starvationCount || facts.state == .rebuffering
        starvationCount = max(starvationCount, facts.starvationCount)
        if facts.starvations.count > reportedStarvationCount {
            news.starvations = Array(facts.starvations[reportedStarvationCount...])
            reportedStarvationCount = facts.starvations.count
        }
        if facts.errors.count > reportedErrorCount {
            news.errors = facts.errors.since(reportedErrorCount)
            reportedErrorCount = facts.errors.count
        }
        if !hasReportedStart, let delay = facts.startDelay {
            news.startDelay = delay
            hasReportedStart = true
        }
        return news
    }
}
