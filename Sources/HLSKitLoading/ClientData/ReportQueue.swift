/// Decides when to report events to one target, and how to handle its responses.
///
/// Source: CTA-5004-B, event mode: statuses 410 and 429.
struct ReportQueue: Sendable {
    enum Step: Sendable, Hashable {
        /// The body of a report. The next one follows only after a response.
        case post(String)
        /// Call ``next(at:)`` again at this time.
        case wake(at: Duration)
        /// No more reports follow, and the current one is no longer needed.
        case over
    }

    private struct Line: Sendable {
        var text: String
        var added: Duration
    }

    /// The largest number of waiting lines, beyond which the oldest is dropped.
    static let maximumCount = 500
    private static let maximumBatchCount = 100
    /// The time in which the remaining lines must be sent after the end of the session.
    static let closingTime = Duration.seconds(2)
    private static let longestWait = Duration.seconds(60)
    private static let longestRetryAfter = Duration.seconds(3600)

    private let batchCount: Int
    private let batchDelay: Duration
    private var lines: [Line] = []
    private var underWay: [Line] = []
    private var failureCount = 0
    private var notBefore: Duration?
    private var deadline: Duration?
    private(set) var isGone = false
    private(set) var droppedCount = 0

    init(_ target: ClientData.EventTarget) {
        batchCount = min(max(1, target.batchCount), Self.maximumBatchCount)
        batchDelay = max(.zero, target.batchDelay)
    }

    mutating func add(_ line: String, at now: Duration) -> Step? {
        guard !isGone, deadline == nil else { return nil }
        lines.append(Line(text: line, added: now))
        trim()
        return next(at: now)
    }

    /// Handles the response to a report. `status` is nil if there was no response.
    mutating func answer(status: Int?, retryAfter: Duration?, at now: Duration) -> Step? {
        guard !isGone, !underWay.isEmpty else { return nil }
        switch status {
        case 410?:
            isGone = true
            (lines, underWay) = ([], [])
            return .over
        case nil, 429?, .some(500...599):
            lines = underWay + lines
            trim()
            let wait = min(Duration.seconds(1 << min(failureCount, 6)), Self.longestWait)
            failureCount += 1
            notBefore = now + (retryAfter.map { min(max(.zero, $0), Self.longestRetryAfter) } ?? wait)
        default:
            // The report was accepted, or a retry would not help.
            if let status, !(200..<300).contains(status) { droppedCount += underWay.count }
            failureCount = 0
            notBefore = nil
        }
        underWay = []
        return next(at: now)
    }

    mutating func next(at now: Duration) -> Step? {
        if isGone { return .over }
        if let deadline, now >= deadline { return .over }
        guard underWay.isEmpty else { return deadline.map { .wake(at: $0) } }
        guard let first = lines.first else { return deadline == nil ? nil : .over }
        var due = deadline != nil || lines.count >= batchCount ? now : first.added + batchDelay
        if let notBefore { due = max(due, notBefore) }
        if let deadline, due >= deadline { return .over }
        guard due <= now else { return .wake(at: due) }
        let count = deadline != nil || lines.count > batchCount ? Self.maximumBatchCount : batchCount
        underWay = Array(lines.prefix(count))
        lines.removeFirst(underWay.count)
        return .post(underWay.map(\.text).joined(separator: "\n"))
    }

    /// Ends the queue: no further lines are added, and the remaining ones are sent at once.
    mutating func close(at now: Duration) -> Step? {
        guard deadline == nil else { return nil }
        deadline = now + Self.closingTime
        return next(at: now)
    }

    private mutating func trim() {
        guard lines.count > Self.maximumCount else { return }
        droppedCount += lines.count - Self.maximumCount
        lines.removeFirst(lines.count - Self.maximumCount)
    }
}
