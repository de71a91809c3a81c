import HLSKitCore

package enum SessionGrouping {
    /// Groups logs. Each measurement log is a session. Access and error logs belong to the only session or, without
    /// one, form a session together.
    static func sessions(of logs: [ReportPage.Session]) throws(HLSError) -> [ReportPage.Session] {
        var full = logs.filter(\.record.isFull)
        var others = logs.filter { !$0.record.isFull }
        if full.isEmpty, others.count == 2, others.allSatisfy({ !$0.record.periods.isEmpty }) { return others }
        guard full.count <= 2 else {
            throw HLSError(code: .invalidArgument, cause: "at most two sessions can be shown side by side")
        }
        guard full.count < 2 || others.isEmpty else {
            throw HLSError(
                code: .invalidArgument, urlString: others.first?.name,
                cause: "cannot tell which of the two sessions it belongs to")
        }
        if full.isEmpty { full = [others.removeFirst()] }
        for other in others {
            full[0].record.add(other.record)
            full[0].name = [full[0].name, other.name].compactMap(\.self).joined(separator: ", ")
        }
        return full
    }
}

extension SessionRecord {
    fileprivate var isFull: Bool { !spells.isEmpty || !requests.isEmpty || !samples.isEmpty }

    fileprivate mutating func add(_ other: SessionRecord) {
        periods += other.periods
        if failures.isEmpty { failures = other.failures }
        reading.lineCount += other.reading.lineCount
        reading.damagedCount += other.reading.damagedCount
        for (kind, count) in other.reading.unknownKinds { reading.unknownKinds[kind, default: 0] += count }
    }
}
