extension LowLatencyOrigin {
    package struct Fault: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// Blocking requests get no response until a deadline ends them.
            case neverAnswers
            /// Blocking requests get an immediate response with the current content.
            case doesNotHold
            /// Blocking requests have no limit: there is no 503 after three target durations.
            case holdsForever
            /// Every playlist request gets this status.
            case status(Int, retryAfter: Int? = nil)
            /// A cache that ignores the query serves playlists, with copies up to this age.
            case cache(lifetime: Duration)
            /// A cache that respects the query serves requests without one, with copies up to this age.
            case plainCache(lifetime: Duration)
            case hint(HintFault)
            /// This number of parts at the end of each segment is never listed or available.
            case dropsLastParts(Int)
            /// `PART-TARGET` is two thirds of the part duration.
            case understatesPartTarget
            /// No part is declared as independent.
            case hidesIndependence
            /// Media sequence numbers are shifted by this amount.
            case renumbers(by: Int)
            /// Delta updates declare this number of additional skipped segments.
            case skipsTooMany(Int)
            /// Delta updates apply to a playlist that begins this number of segments later.
            case skipsFromElsewhere(by: Int)
            /// Rendition reports are ahead by this number of segments.
            case reportsAhead(by: Int)
            case omitsReports
            /// From the start of the fault on, no new content is listed.
            case stops
            /// The encoder pauses, and continues at the same position.
            case pauses
            /// The connection is lost after this number of bytes of a segment.
            case resets(after: Int)
        }

        package enum HintFault: Sendable, Hashable {
            /// The hinted part never appears.
            case neverAppears
            /// The following part is sent instead.
            case otherBytes
            case notFoundUntilPublished
            /// The next playlist does not contain the hinted part because the plan has changed. The request then gets
            /// 404.
            case withdrawn
        }

        package var kind: Kind
        /// The time range of the fault. The default is always.
        package var period: Range<Duration>
        /// The variant with the fault, or nil (the default) for all.
        package var variant: Int?

        package init(
            _ kind: Kind, during period: Range<Duration> = .zero..<Duration.seconds(1_000_000_000),
            of variant: Int? = nil
        ) {
            self.kind = kind
            self.period = period
            self.variant = variant
        }
    }

    func fault<Value>(at time: Duration, of variant: Int, _ value: (Fault.Kind) -> Value?) -> Value? {
        for fault in faults
        where fault.period.contains(max(.zero, time)) && fault.variant.map({ $0 == variant }) ?? true {
            if let value = value(fault.kind) { return value }
        }
        return nil
    }

    func has(_ kind: Fault.Kind, at time: Duration, of variant: Int) -> Bool {
        fault(at: time, of: variant) { $0 == kind ? true : nil } ?? false
    }

    func stop(of variant: Int) -> Duration? {
        faults.filter { $0.kind == .stops && $0.variant.map { $0 == variant } ?? true }.map(\.period.lowerBound).min()
    }
}

extension LowLatencyOrigin.Fault.Kind {
    var hint: LowLatencyOrigin.Fault.HintFault? { if case .hint(let fault) = self { fault } else { nil } }
    var droppedPartCount: Int? { if case .dropsLastParts(let count) = self { count } else { nil } }
    var resetAfter: Int? { if case .resets(let count) = self { count } else { nil } }
    var cacheLifetime: Duration? { if case .cache(let lifetime) = self { lifetime } else { nil } }
    var plainCacheLifetime: Duration? { if case .plainCache(let lifetime) = self { lifetime } else { nil } }
    var renumbering: Int? { if case .renumbers(let distance) = self { distance } else { nil } }
    var excessSkip: Int? { if case .skipsTooMany(let count) = self { count } else { nil } }
    var skipShift: Int? { if case .skipsFromElsewhere(let distance) = self { distance } else { nil } }
    var reportLead: Int? { if case .reportsAhead(let distance) = self { distance } else { nil } }
    var status: SimulatedResponse? {
        if case .status(let status, let seconds) = self { .status(status, retryAfter: seconds) } else { nil }
    }
}
