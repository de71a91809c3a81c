import HLSKitLoading
import HLSKitSelection

/// The events of the breaks of an item, in the order in which they happened.
///
/// ``BreakController`` records them, and ``PublishedBreakState`` reports them to the app.
struct BreakJournal: Sendable {
    enum News: Sendable, Hashable {
        /// A break interrupts the item at an item time.
        case breakBegan(at: Duration)
        /// The event plays, or its asset list is awaited.
        case eventBegan(InterstitialEvent)
        case eventFailed(InterstitialEvent, HLSError)
        case eventEnded(InterstitialBreak.Ending)
        /// The break has ended. The time is `nil` if another break follows or the item has ended.
        case breakEnded(resumingAt: Duration?)
        case listChanged(AssetLists.Change)
    }

    private static let noAssets = HLSError(
        code: .notAvailable, urlString: nil, cause: "there is nothing for the interstitial to play")

    private var news: [News] = []
    /// Whether the start of the break was reported, but not its end. A break without content is not reported.
    private var isBreakReported = false
    /// The event whose start was reported, but not its end.
    private var reported: String?
    private var reportedFailure: String?

    mutating func take() -> [News] {
        defer { news = [] }
        return news
    }

    mutating func note(_ changes: [AssetLists.Change]) {
        for change in changes { news.append(.listChanged(change)) }
    }

    mutating func noteBegin(of program: InterstitialBreak) {
        isBreakReported = false
        reportBegin(of: program)
    }

    /// Records the start of a break, unless it was reported. A break without events, which only skips content, is not
    /// reported.
    private mutating func reportBegin(of program: InterstitialBreak) {
        guard !isBreakReported, !program.events.isEmpty else { return }
        news.append(.breakBegan(at: program.place))
        isBreakReported = true
    }

    mutating func note(_ endings: [InterstitialBreak.Ending], of program: InterstitialBreak) {
        reportBegin(of: program)
        for ending in endings {
            if reported != ending.event.id { news.append(.eventBegan(ending.event)) }
            // Failures of its assets are reported individually.
            if ending.outcome == .failed, reportedFailure != ending.event.id {
                news.append(.eventFailed(ending.event, Self.noAssets))
            }
            news.append(.eventEnded(ending))
            reportedFailure = nil
            reported = nil
        }
        guard let event = program.current, reported != event.id else { return }
        reported = event.id
        news.append(.eventBegan(event))
    }

    mutating func noteFailure(of event: InterstitialEvent, _ error: HLSError?) {
        news.append(.eventFailed(event, error ?? Self.noAssets))
        reportedFailure = event.id
    }

    /// Records the end of the break. `time` is the position where the item resumes, or `nil` if it does not.
    mutating func noteEnd(resumingAt time: Duration?) {
        guard isBreakReported else { return }
        news.append(.breakEnded(resumingAt: time))
        isBreakReported = false
    }
}
